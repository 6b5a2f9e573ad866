"""Any number of tables of one service: what is opened, resumed and ended while the service runs. Knows no screen."""
