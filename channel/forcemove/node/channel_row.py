"""What a journal is to keep of one channel, version by version."""

from __future__ import annotations

from forcemove.follower.blocks import Block
from forcemove.history.summary import ChannelSummary, pack_present, pack_profile, summarise
from forcemove.node.effect_executor import EffectExecutor
from forcemove.node.metadata import CURSORS, METADATA, ChannelCursor, ChannelMetadata
from forcemove.node.recorder import ChannelRecorder
from forcemove.protocol.codec.msgpack_codec import CHANNELS
from forcemove.store.records import ChannelUpdate, StoredChannel


class ChannelRow:
    """The row of one channel. `version`: how often it was saved."""

    def __init__(self, stored: StoredChannel | None, metadata: ChannelMetadata, recorder: ChannelRecorder) -> None:
        """`stored`: what the journal has of the channel, None for a new one. `metadata`: what it has, or is to keep,
        besides the snapshot. `recorder`: collects the channel's history."""
        self.version = stored.version if stored else 0
        self._metadata, self._recorder = metadata, recorder
        self._cursor = stored.cursor if stored else b""
        self._has_profile = False

    def update(self, executor: EffectExecutor, now: int, cursor: Block | None, *, is_put_away: bool) -> ChannelUpdate:
        """What the journal is to commit now.

        - `executor`: of the channel as it is now; keeps our error that is in the way of a summary.
        - `now`: the chain's time, seconds.
        - `cursor`: the block up to which the chain was read for it; None where it is as in the version before.
        - `is_put_away`: as of `ManagedChannel`.
        """
        channel = executor.client.channel
        if cursor is not None:
            self._cursor = CURSORS.encode(ChannelCursor(cursor.number, cursor.hash))
        summary = self._summary(executor, now)
        return ChannelUpdate(
            executor.client.id,
            self.version,
            CHANNELS.encode(channel),
            METADATA.encode(self._metadata) if self.version == 0 else None,
            finished=channel.is_over_and_paid,
            put_away=is_put_away,
            evidence=executor.evidence,
            cursor=self._cursor,
            history=self._recorder.row(),
            profile=None if self._has_profile or summary is None else pack_profile(summary),
            summary=None if summary is None else pack_present(summary),
        )

    def _summary(self, executor: EffectExecutor, now: int) -> ChannelSummary | None:
        """The channel for a list; None where our error is in the way, which keeps nothing from being saved."""
        metadata, channel = self._metadata, executor.client.channel
        try:
            begun_at, saved_at = metadata.begun_at, self._recorder.now()
            return summarise(channel, metadata.app, begun_at, saved_at, now, metadata.tokens, metadata.names)
        except Exception as error:
            executor.keep_error(error)
            return None

    def on_written(self) -> None:
        """The last `update` is on disk."""
        self.version, self._has_profile = self.version + 1, True
        self._recorder.on_written()
