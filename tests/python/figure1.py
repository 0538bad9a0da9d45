# Calculate the current transfer rate (Both
# in and out) for the given network adapter.
def BulkByteTransferRate(adapter):
    # Query CAMP for the initial state.
    initial = GetNetBytesSent(adapter)
    initial += GetNetBytesRecv(adapter)
    time.sleep(SAMPLE_INTERVAL)
    # Query CAMP for the final state.
    final = GetNetBytesSent(adapter)
    final += GetNetBytesRecv(adapter)
    return (final - initial)/SAMPLE_INTERVAL
