import { UsageError } from './usage-error.ts'

/** The options of commands that print records. */
interface JsonOptions {
  readonly json?: boolean | undefined
  readonly jsonl?: boolean | undefined
}

/** Records as `--jsonl` prints them, one per line; empty without records. */
export function jsonLines(records: readonly object[]): string {
  return records.map((record) => JSON.stringify(record)).join('\n')
}

/** Refuses `--json` together with `--jsonl`. */
export function assertOneForm({ json, jsonl }: JsonOptions, usage: string): void {
  if (json && jsonl) throw new UsageError('--json and --jsonl cannot both be given.', usage)
}

/** The same, and refuses either with a sub-command that prints no records. */
export function assertPrintsRecords(word: string, options: JsonOptions, usage: string): void {
  assertOneForm(options, usage)
  const { json, jsonl } = options
  if ((json || jsonl) && word !== 'list')
    throw new UsageError(`--json${jsonl ? 'l' : ''} goes with list only.`, usage)
}
