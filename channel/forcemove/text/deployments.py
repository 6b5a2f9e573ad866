"""How a deployment compares with its chain, as lines for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forcemove.artifact import ADJUDICATOR
from forcemove.chain.addresses import show_address
from forcemove.chain.book import GameOfContract
from forcemove.program import program

if TYPE_CHECKING:
    from forcemove.chain.verification import ContractVerdict
    from forcemove.inspect.deployments import DeploymentReport


def deployment_lines(report: DeploymentReport) -> list[str]:
    """A line for each contract, the fork whose prices the chain has, and what follows from all contracts."""
    lines = [_line(each, each in report.unknown) for each in report.verdicts]
    lines += [] if report.has_adjudicator else [f"{ADJUDICATOR}: not deployed"]
    lines += [f"{game.artifact.name}: not deployed; `{program()} deploy` adds it" for game in report.absent]
    prices = report.prices
    gas = f"Gas costs what it does under {prices.fork}: a small challenge takes about {prices.usual_dispute:,}."
    return [*lines, gas, _conclusion(report)]


def _conclusion(report: DeploymentReport) -> str:
    if not report.is_good:
        return "Do not use this deployment as it is."
    if report.unknown:
        return f"Everything else is genuine. {_names(report.unknown)} cannot be checked here."
    return "The deployment is genuine."


def _names(verdicts: Sequence[ContractVerdict]) -> str:
    return ", ".join(verdict.contract for verdict in verdicts)


def _line(verdict: ContractVerdict, is_unknown: bool) -> str:
    code = "where there is code" if verdict.has_code else "where there is no code"
    line = f"{verdict.contract}: {verdict.status.value}; its address is {show_address(verdict.derived)}, {code}"
    if verdict.address != verdict.derived:
        return f"{line}; the book says {show_address(verdict.address)}, which is another contract"
    return f"{line}. {_needed(verdict.game)}" if is_unknown else line


def _needed(game: GameOfContract | None) -> str:
    if game is None:
        return "Install the game that has this contract to verify it; the book does not say which."
    of = f" (it was deployed with {game.distribution})" if game.distribution else ""
    return f"Install the game {game.name}{of} to verify it."
