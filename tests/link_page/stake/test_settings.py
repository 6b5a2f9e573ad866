"""What a player types so that a page plays for a stake: read, kept, and refused where it makes no sense."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forcemove import local_keys
from forcemove.chain.addresses import show_address
from forcemove.link_page.stake_settings import USUAL_MOST, StakeForm, StakeSettings, read_typed

ACCOUNT, TOWER = (each.address for each in local_keys()[1:3])
TYPED = StakeForm(
    "https://one.example/key\n http://127.0.0.1:8545 \n",
    show_address(ACCOUNT),
    tower=f"{show_address(TOWER)}@https://tower.example/",
    has_agreed=True,
)


def read(typed: StakeForm = TYPED) -> StakeSettings:
    found = read_typed(typed)
    assert isinstance(found, StakeSettings), found
    return found


def test_a_form_is_read() -> None:
    found = read()
    assert found.endpoints == ("https://one.example/key", "http://127.0.0.1:8545")
    assert (found.account, found.most) == (ACCOUNT, USUAL_MOST)
    assert found.tower is not None
    assert (found.tower.url, found.tower.tower) == ("https://tower.example", TOWER)
    assert read(replace(TYPED, tower="")).tower is None


@pytest.mark.parametrize("most", ["0.05 ether", "7 gwei", "12345 ether", "1 wei"])
@pytest.mark.parametrize("tower", [TYPED.tower, ""])
def test_what_is_kept_is_found_again(most: str, tower: str) -> None:
    settings = replace(read(replace(TYPED, most=most, tower=tower)), chain_id=10)
    found = StakeSettings.decode(settings.encode())
    assert found is not None
    assert found.chain_id == 10
    assert found.typed == settings.typed


@pytest.mark.parametrize("data", [b"", b"{}", b"7", b"[]", b'{"chain": 1}', b"\xff", read().encode()[:-9]])
def test_what_makes_no_sense_is_nothing(data: bytes) -> None:
    assert StakeSettings.decode(data) is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"endpoints": ""}, "at least one node"),
        ({"endpoints": "https://a " + " ".join(f"https://{each}" for each in range(5))}, "at most 5"),
        ({"endpoints": "wss://node.example"}, "not a node's address"),
        ({"endpoints": "geth.ipc"}, "not a node's address"),
        ({"account": "0x12"}, "address"),
        ({"most": "much"}, "not an amount"),
        ({"most": "0"}, "not an amount"),
        ({"tower": "https://tower.example"}, "Watchtower"),
        ({"tower": f"{show_address(TOWER)}@tower.example"}, "tower"),
        ({"has_agreed": False}, "Tick the box"),
    ],
)
def test_what_is_wrong_is_said(changed: dict[str, str | bool], said: str) -> None:
    found = read_typed(replace(TYPED, **changed))  # type: ignore[arg-type]
    assert isinstance(found, str)
    assert said in found
