"""The code in docs/python.md runs unchanged, and the example program works as the paper describes."""

import contextlib
import io
import pathlib
import re
import subprocess
import sys
import unittest
import xmlrpc.client

import camp
from subjects import program

DOCS = pathlib.Path(__file__).resolve().parents[2] / 'docs'


class Docs(unittest.TestCase):
    def test_the_code_in_docs_python_md_runs_unchanged(self):
        try:
            import pandas
            camp.microstates().close()
        except (ImportError, camp.Error) as error:
            self.skipTest(str(error))
        self.assertTrue(pandas)
        blocks = re.findall(r'```python\n(.*?)```', (DOCS / 'python.md').read_text(encoding='utf-8'),
                            re.DOTALL)
        self.assertGreater(len(blocks), 6)
        names = {}
        with contextlib.redirect_stdout(io.StringIO()) as said:
            for block in blocks:
                exec(compile(block, 'docs/python.md', 'exec'), names)
        self.assertIn('<camp.Frame of', said.getvalue())

    def test_the_documented_counters_match_the_catalogue(self):
        build = pathlib.Path(camp.__file__).parents[2]
        run = subprocess.run([DOCS.parent / 'tools' / 'catalogue', '--check', build], text=True,
                             stdout=subprocess.PIPE, check=False)
        self.assertEqual((run.returncode, run.stdout), (0, ''))

    def test_every_document_named_in_the_docstrings_and_the_readme_exists(self):
        package = pathlib.Path(camp.__file__).parent
        self.assertIn('docs/python.md', camp.__doc__)
        for file in (*package.glob('*.py'), DOCS.parent / 'README.md', DOCS / 'python.md'):
            text = file.read_text(encoding='utf-8')
            for page in re.findall(r'\bdocs/[\w/-]+\.md', text):
                self.assertTrue((DOCS.parent / page).is_file(), f'{file}: {page}')
            if file.suffix == '.md':
                for link in re.findall(r'\]\(([\w/.-]+)\)', text):
                    self.assertTrue((file.parent / link).exists(), f'{file}: {link}')

    def test_the_readme_links_to_the_page_about_importing_from_the_build(self):
        self.assertIn('docs/python.md', (DOCS.parent / 'README.md').read_text(encoding='utf-8'))
        self.assertIn('PYTHONPATH=build/release/python python3', (DOCS / 'python.md').read_text(encoding='utf-8'))

    def test_the_example_campmon_reports_workstations_that_do_not_answer(self):
        campmon = [sys.executable, str(DOCS / 'examples' / 'campmon.py')]
        with program(*campmon, 'serve', '0') as server:
            url = server.stdout.readline().strip()
            with xmlrpc.client.ServerProxy(url) as host:
                self.assertEqual(host.GetCPUCount(), camp.cpu_count())
            with program(*campmon, 'watch', '60', url, 'http://127.0.0.1:1') as watch:
                lines = [watch.stdout.readline() for _ in range(2)]
        self.assertRegex(lines[0], rf'^{url} +\d+\.\d % CPU +[\d,]+ MB free$')
        self.assertRegex(lines[1], r'^http://127.0.0.1:1 +no answer: ')


if __name__ == '__main__':
    unittest.main()
