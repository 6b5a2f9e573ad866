"""The relay: a process that keeps tables' logs and carries them between players. It holds no key and can forge nothing.

`storage` keeps logs on disk, `keeping` commits many posts at once and delivers them after that, `tables` are the logs
in use, `housekeeping` bounds what is kept, `clients` are the connections, `admission` bounds what they may do, `offers`
is the lobby, `server` the process. Knows no chain, no game and no screen.
"""
