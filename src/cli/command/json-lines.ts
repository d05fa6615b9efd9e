import { UsageError } from './usage-error.ts'

/** Records as `--json` prints them, one per line; empty without records. */
export function jsonLines(records: readonly object[]): string {
  return records.map((record) => JSON.stringify(record)).join('\n')
}

/** Refuses `--json` with a sub-command that prints no records. */
export function assertPrintsRecords(word: string, json: boolean | undefined, usage: string): void {
  if (json && word !== 'list') throw new UsageError('--json goes with list only.', usage)
}
