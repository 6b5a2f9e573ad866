"""A tower holds no key, no seed and no choice that was not revealed: they are searched for in its journal's bytes."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.store.records import Batch, ChannelUpdate
from forcemove.watchtower.appointment import make_appointment
from forcemove_games.rock_paper_scissors import GAME
from tests.scenarios.story import KEYS, Playground, Story
from tests.simulation.chain import MemoryChain
from tests.watchtower.keeper import TOWER, Keeper, newest

_OPENING = 64


@pytest.fixture
def story() -> Story:
    return Playground.on(MemoryChain()).story(GAME)


@pytest.fixture
def keeper(story: Story, tmp_path: Path) -> Iterator[Keeper]:
    (folder := tmp_path / "tower").mkdir()
    made = Keeper.of(story, folder)
    yield made
    made.close()


def written(keeper: Keeper) -> bytes:
    """Everything that its process has on disk."""
    folder = Path(keeper.journal_at).parent
    return b"".join(path.read_bytes() for path in folder.iterdir())


def salts(story: Story) -> set[bytes]:
    """What both players' bots hide, and have hidden."""
    hidden = [player.bot.secrets() for player in story.players]
    return {each[at + 32 : at + _OPENING] for each in hidden for at in range(0, len(each), _OPENING)}


def test_a_tower_holds_no_key_no_seed_and_no_unrevealed_choice(story: Story, keeper: Keeper) -> None:
    """Every newly supported state is handed over by both, over several rounds; both fall silent in the end."""
    seen, shown, hidden = set(), b"", set()
    story.bob.stops_at = story.alice.stops_at = 18
    while story.alice.client.poll() or story.bob.client.poll():
        hidden |= salts(story)
        shown += b"".join(each.state.app_data for player in story.players for each in player.states)
        for seat in range(2):
            given = newest(story, seat) if story.players[seat].client.channel.next_turn > 1 else None
            if given is not None and (seat, given.turn_num) not in seen:
                seen.add((seat, given.turn_num))
                keeper.give(given, KEYS[seat])
                found = {salt for salt in hidden if salt in written(keeper)}
                assert found == {salt for salt in found if salt in shown}
    on_disk = written(keeper)
    assert not [key for key in (*KEYS, TOWER) if key.secret in on_disk]
    revealed = {salt for salt in hidden if salt in shown}
    assert len(revealed) > 1
    assert any(salt in on_disk for salt in revealed), "the search would not find anything"


def test_what_a_channel_keeps_to_itself_is_not_in_what_it_hands_over(story: Story, keeper: Keeper) -> None:
    """A participant's own journal has what its player hides: the tower's has not."""
    story.play_until(6)
    hidden = secrets.token_bytes(32)
    channel = replace(story.alice.client.channel, secrets=hidden)
    own = Keeper.of(story, Path(keeper.journal_at).parent.parent, name="own journal")
    own.journal.commit(Batch((ChannelUpdate(channel.agreement.channel_id, 0, CHANNELS.encode(channel), metadata=b""),)))
    assert hidden in Path(own.journal_at).read_bytes() + Path(own.journal_at + "-wal").read_bytes()
    given = make_appointment(channel, from_block=0)
    assert given is not None
    keeper.give(given, KEYS[0])
    assert hidden not in written(keeper)
    own.close()


def test_the_code_of_a_tower_knows_no_participants_secret() -> None:
    """It names no seed and no secrets, and of keys only the given one and the one that signs an appointment."""
    folder = Path(__file__).parent.parent.parent / "channel" / "forcemove" / "watchtower"
    text = "".join(path.read_text() for path in folder.glob("*.py"))
    assert not re.findall(r"\.secrets?\b|keep_seed|\bseed=", text)
