"""Frames in other processes, and waits that other threads and asyncio end."""

import asyncio
import copy
import multiprocessing
import pickle
import tempfile
import threading
import time
import unittest

import camp
from subjects import NEEDS_MICROSTATES, NEEDS_PANDAS, REASON, table

try:
    import numpy
except ImportError:
    numpy = None


def read_frame(path):
    return next(camp.frames(path))


class Copies(unittest.TestCase):
    """Frames in other processes, and copies of them."""

    def same(self, one, other):
        self.assertIs(type(one), type(other))
        self.assertEqual((one.columns, one.names, one.values.tolist(), one.ids.tolist()),
                         (other.columns, other.names, other.values.tolist(), other.ids.tolist()))

    def test_a_pickled_or_copied_frame_has_the_same_columns(self):
        with camp.frames('check', interval=0.05) as frames:
            frame = next(frames)
        for one in (copy.copy(frame), copy.deepcopy(frame),
                    *(pickle.loads(pickle.dumps(frame, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1))):
            self.same(one, frame)
            self.same(one.beside, frame.beside)
            self.assertEqual((one.entities, one.losses, one.note, one.start_ns, one.end_ns, one.labels),
                             (frame.entities, frame.losses, frame.note, frame.start_ns, frame.end_ns, frame.labels))
        rows = camp.process_table().read()
        self.same(pickle.loads(pickle.dumps(rows)), rows)

    @NEEDS_MICROSTATES
    def test_pickled_microstates_have_the_same_columns(self):
        with camp.microstates() as states:
            threads = states.threads()
        self.same(pickle.loads(pickle.dumps(threads)), threads)

    @NEEDS_PANDAS
    def test_numpy_and_pandas_use_a_pickled_frame(self):
        with tempfile.TemporaryDirectory() as folder:
            frame = read_frame(table(folder))
        one = pickle.loads(pickle.dumps(frame))
        self.assertEqual(numpy.asarray(one).tolist(), numpy.asarray(frame).tolist())
        self.assertTrue(one.to_pandas().equals(frame.to_pandas()))

    def test_a_pool_of_processes_returns_frames(self):
        with tempfile.TemporaryDirectory() as folder, multiprocessing.get_context('spawn').Pool(1) as pool:
            path = table(folder)
            self.same(pool.apply_async(read_frame, (path,)).get(60), read_frame(path))


class Cancelling(unittest.TestCase):
    """Another thread or a cancelled task ends the wait for a frame."""

    def sources(self, folder):
        yield 'check', {}
        yield 'cpus', {'tier': 'proc'}
        yield table(folder), {'speed': 1e-3}  # waits 1,000 s for its next row
        if not REASON:
            yield 'threads', {}

    def test_a_cancelled_wait_of_asyncio_does_not_hold_the_end_of_its_loop(self):
        async def iterate(frames):
            async for _ in frames:
                pass

        async def cancel(of, options):
            with camp.frames(of, interval=60, **options) as frames:
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(iterate(frames), 0.1)
                with self.assertRaisesRegex(camp.Invalid, 'closed'):
                    frames.read()
            with camp.frames(of, interval=60, **options) as frames, self.assertRaises(asyncio.TimeoutError):
                if options.get('speed'):
                    frames.read()
                waiting = asyncio.get_running_loop().run_in_executor(None, next, frames, None)
                await asyncio.wait_for(waiting, 0.1)
        with tempfile.TemporaryDirectory() as folder:
            for of, options in self.sources(folder):
                start = time.monotonic()
                asyncio.run(cancel(of, options))
                self.assertLess(time.monotonic() - start, 60, of)

    def test_async_for_reads_all_frames(self):
        async def names(path):
            return [frame.names async for frame in camp.frames(path)]

        async def first(of):
            async for frame in camp.frames(of, interval=0.05):
                return frame
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(asyncio.run(names(table(folder))), [['a', 'b'], ['a', 'b']])
        self.assertIsInstance(asyncio.run(first('check')), camp.Frame)

    def test_closing_frames_ends_the_wait_of_another_thread(self):
        with tempfile.TemporaryDirectory() as folder:
            for of, options in self.sources(folder):
                frames = camp.frames(of, interval=60, **options)
                raised = []

                def wait():
                    try:
                        list(frames)
                    except camp.Invalid as error:
                        raised.append(str(error))
                thread = threading.Thread(target=wait)
                thread.start()
                time.sleep(0.1)
                frames.close()
                frames.close()
                thread.join(50)
                self.assertEqual((thread.is_alive(), raised), (False, ['these frames are closed']), of)


if __name__ == '__main__':
    unittest.main()
