import { inside, list, numbered } from './hostile-values.ts'

/** An upload's body and its media type. */
export interface HostileFile {
  readonly shape: string
  readonly type: string
  readonly make: (bytes: number) => string
}

const many = (line: string) => (bytes: number) => line.repeat(Math.ceil(bytes / line.length))

/** Files of rows whose cost is out of proportion to their bytes. */
export const HOSTILE_FILES: readonly HostileFile[] = [
  {
    shape: 'CSV of short rows',
    type: 'text/csv',
    make: (bytes) => numbered(String, bytes, 'a\n', '').replaceAll(',', '\n'),
  },
  { shape: 'CSV of empty lines', type: 'text/csv', make: (bytes) => `a\n${'\n'.repeat(bytes)}` },
  {
    shape: 'CSV of many columns',
    type: 'text/csv',
    make: (bytes) =>
      numbered((number) => `c${number}`, Math.min(bytes / 2, 2e6), '', '\n') +
      many(','.repeat(99_999) + '\n')(bytes / 2),
  },
  {
    shape: 'CSV of one cell',
    type: 'text/csv',
    make: (bytes) => `a\n"${'x'.repeat(Math.min(bytes, 5e6))}"\n`,
  },
  {
    shape: 'CSV of quotes',
    type: 'text/csv',
    make: (bytes) => `a\n"${'""'.repeat(Math.min(bytes / 2, 2e6))}"\n`,
  },
  {
    shape: 'CSV of quotes before spaces',
    type: 'text/csv',
    make: (bytes) => `a\n"${'x"'.repeat(bytes / 4)}${' '.repeat(bytes / 2)}\n,`,
  },
  {
    shape: 'JSON of short rows',
    type: 'application/json',
    make: (bytes) => numbered((number) => `{"a":${number}}`, bytes),
  },
  { shape: 'JSON of empty rows', type: 'application/json', make: (bytes) => list('{}', bytes) },
  {
    shape: 'JSON of a row of many values',
    type: 'application/json',
    make: (bytes) => `[${inside('a', (size) => list('{}', Math.min(size, 5e6)))(bytes)}]`,
  },
  {
    shape: 'JSON of a deep row',
    type: 'application/json',
    make: (bytes) =>
      `[${inside('a', (size) => list('['.repeat(100) + ']'.repeat(100), Math.min(size, 5e6)))(bytes)}]`,
  },
  {
    shape: 'JSONL of short rows',
    type: 'application/jsonl',
    make: (bytes) => numbered((number) => `{"a":${number}}`, bytes, '', '').replaceAll(',', '\n'),
  },
  {
    shape: 'JSONL of many columns',
    type: 'application/jsonl',
    make: (bytes) => numbered((number) => `{"c${number}":0}`, bytes, '', '').replaceAll(',', '\n'),
  },
]
