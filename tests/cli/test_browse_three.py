"""Three people in three browsers play a game for three, over a real relay and a real chain, to its payout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.cli.nodes import Demo, wait_until
from tests.cli.tables import on_new_node
from tests.cli.test_browse import HOME, come_to_channel, opened
from tests.cli.three import NAME, WorldOfThree
from tests.relay.process import RelayProcess


@pytest.fixture
def world(tmp_path: Path, relay: RelayProcess) -> Iterator[WorldOfThree]:
    with on_new_node(tmp_path, lambda node: WorldOfThree(node, tmp_path, relay)) as world:
        yield world


def browsing(world: WorldOfThree, home: Path, name: str) -> Demo:
    arguments = (*world.browse_arguments(home), "--no-open", "--name", name)
    return world.run(home, *arguments, before=world.game.before)


@pytest.mark.long
def test_three_browsers_play_each_other_to_a_payout(world: WorldOfThree, browser: Browser) -> None:
    homes = {"Ann": world.alice, "Bob": world.bob, "Carol": world.carol}
    with ExitStack() as stack:
        ann, bob, carol = pages = [
            stack.enter_context(opened(browser, browsing(world, home, name))) for name, home in homes.items()
        ]
        ann.locator("#game").select_option(NAME)
        ann.locator("#stake").fill("0.01 ether")
        ann.locator("#seats").fill("3")
        ann.locator("#offer").click()
        for page in (bob, carol):
            page.locator("#offers th a").first.click()
            page.locator("#join").click()
        for page in pages:
            come_to_channel(page)
        for turn in range(6, 10):
            mover = pages[turn % 3]
            for page in pages:
                page.locator(f"#board input[name=turn][value='{turn}']").wait_for(state="attached")
            mover.locator("#board button[name=word]").first.click()
        for page in pages:
            page.locator("#board input[name=turn][value='10']").wait_for(state="attached")
        pages[10 % 3].locator("summary#do-leave").click()
        pages[10 % 3].locator("#sure-leave").click()
        for page in pages:
            page.locator("#end", has_text=HOME).wait_for()
    wait_until(lambda: all(world.is_finished(home) for home in homes.values()))
    world.require_three_ends()
