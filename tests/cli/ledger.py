#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare a symbolized profile with what the program itself wrote down.

usage: ledger.py LEDGER.tsv [names] <PROFILE-AS-TEXT

The profile is protoc's text of profile.proto. A row of the ledger names a
place (file and line) or, without one, a chain of functions, and how many
blocks and bytes it holds. `names`: there are no lines, chains count alone.
Prints what differs; exit status 1 when something does.
"""
import os
import re
import sys


def parse(lines):
    """Messages as lists of (name, value), value a text or a list."""
    stack, top = [], []
    here = top
    for line in lines:
        line = line.strip()
        if line.endswith('{'):
            inner = []
            here.append((line[:-1].strip(), inner))
            stack.append(here)
            here = inner
        elif line == '}':
            here = stack.pop()
        elif line:
            name, _, value = line.partition(': ')
            here.append((name, value))
    return top


def get(message, name, default='0'):
    return next((v for n, v in message if n == name), default)


def unquote(text):
    raw = re.sub(r'\\([0-7]{3}|.)', lambda m: chr(int(m.group(1), 8))
                 if len(m.group(1)) == 3 else m.group(1), text[1:-1])
    return raw.encode('latin-1', 'replace').decode('utf-8', 'replace')


def read_stacks(top):
    """Each sample: its frames from the root, objects and bytes."""
    strings = [unquote(v) for n, v in top if n == 'string_table']
    functions = {get(v, 'id'): (strings[int(get(v, 'name'))],
                                strings[int(get(v, 'filename'))])
                 for n, v in top if n == 'function'}
    locations = {}
    for n, location in top:
        if n != 'location':
            continue
        lines = [v for k, v in location if k == 'line']
        locations[get(location, 'id')] = [
            functions[get(line, 'function_id')] +
            (int(get(line, 'line')), i + 1 < len(lines))
            for i, line in enumerate(lines)][::-1]
    stacks = []
    for n, sample in top:
        if n != 'sample':
            continue
        ids = [v for k, v in sample if k == 'location_id'][::-1]
        values = [int(v) for k, v in sample if k == 'value']
        frames = [f for i in ids for f in locations[i]]
        stacks.append((frames, values[-2], values[-1]))
    return stacks


def has_chain(frames, chain):
    """The chain's names occur in order; ~ stands before inlined ones."""
    at = 0
    for name, _, _, inlined in frames:
        if at < len(chain) and chain[at].lstrip('~') in name and (
                inlined or not chain[at].startswith('~')):
            at += 1
    return at == len(chain)


def has_line(frames, file, line):
    return any(os.path.basename(f) == file and l == line
               for _, f, l, _ in frames)


def read_ledger(path, only_names):
    """Rows by place, those of one place together."""
    groups = {}
    for text in open(path, encoding='utf-8', errors='replace'):
        if text.startswith('#'):
            continue
        row = text.rstrip('\n').split('\t')
        place = (row[7], int(row[8]))
        key = row[9] if only_names or not place[1] else place
        group = groups.setdefault(key, [row[0], row[9].split(';'), 0, 0])
        group[2] += int(row[1])
        group[3] += int(row[3])
    return groups


def main():
    only_names = 'names' in sys.argv[2:]
    stacks = read_stacks(parse(sys.stdin))
    bad = 0
    for key, row in read_ledger(sys.argv[1], only_names).items():
        name, chain, blocks, size = row
        if only_names:
            chain = [c for c in chain if not c.startswith('~')]
        chained = [s for s in stacks if has_chain(s[0], chain)]
        there = chained if isinstance(key, str) else [
            s for s in stacks if has_line(s[0], *key)]
        got = (sum(s[1] for s in there), sum(s[2] for s in there))
        # Small blocks are printed a little off by some allocators.
        near = abs(got[1] - size) * 1000 <= size
        # By names alone one chain may be part of another's.
        right = got[0] == blocks and near if not only_names else got[0] > 0
        if right and (not blocks or chained):
            continue
        print('%s: %d blocks, %d bytes expected, %d, %d found; chain %s' % (
            name, blocks, size, got[0], got[1],
            'found' if chained else 'missing'))
        bad += 1
    return 1 if bad else 0


sys.exit(main())
