"""`forcemove compile`: the Solidity rules of a game become the artifact that its Python package carries."""

from __future__ import annotations

from pathlib import Path

import click

from forcemove.cli.errors import EXIT_ERROR
from forcemove.cli.terminal import waiting
from forcemove.program import program


@click.command("compile")
@click.argument("folder", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; say which artifacts were made of other sources.")
@click.pass_context
def compile_(ctx: click.Context, folder: Path, check: bool) -> None:
    """Compile the contracts of a game.

    FOLDER is the project, the current directory if it is left out. For each NAME.sol in it with a contract NAME, the
    artifact NAME.json is written beside it: ABI, code, and the sources, which block explorers want. Imports may name
    the project's own files, `forcemove/contracts/...` (the interface that a game implements, and the types), and npm's
    packages. What is up to date is left alone.

    The compiler is Solidity 0.8.37: npm's, where `npm install solc@0.8.37` was run in the project, else py-solc-x's,
    which is fetched once. The same sources give the same code, and so the same address on every chain.

    With --check no compiler is needed; exits with 1 if an artifact is missing or was made of other sources.
    """
    from forcemove.contracts.project import build_project, stale_artifacts

    if check:
        stale = stale_artifacts(folder)
        for path in stale:
            click.echo(f"{path} is not made of the sources as they are; run `{program()} compile`.")
        ctx.exit(EXIT_ERROR if stale else 0)
    with waiting("Compiling") as terminal:
        built = None
        for built in build_project(folder):
            terminal.note("\n".join((*built.warnings, f"Wrote {built.path}")))
        if built is None:
            terminal.note("Nothing to do: each artifact is made of the sources as they are.")
