import { UsageError } from './usage-error.ts'

/** Records as `--json` prints them: one a line, none where there are none. */
export function jsonLines(records: readonly object[]): string {
  return records.map((record) => JSON.stringify(record)).join('\n')
}

/** Refuses `--json` beside a sub-command that prints no records. */
export function assertPrintsRecords(word: string, json: boolean | undefined, usage: string): void {
  if (json && word !== 'list') throw new UsageError('--json goes with list only.', usage)
}
