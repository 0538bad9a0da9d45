def waste(amount):
    on_time = _INTERVAL*(amount/100.0)
    off_time = _INTERVAL-on_time
    ctime = clock()
    while True:
        if clock() - ctime >= on_time:
            sleep(off_time)
            ctime = clock()
