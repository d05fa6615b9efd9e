import { projectOfKey } from './ask-server.ts'
import { type ChosenServer, chosenServer, type ServerOptions } from './chosen-server.ts'
import type { Shell } from './command.ts'
import { textTable } from './text-table.ts'
import { oneLine } from './terminal.ts'
import { UsageError } from './usage-error.ts'

export interface AtServerOptions extends ServerOptions {
  readonly project?: string | undefined
}

/** Chooses the server of a command and holds `--project` against its key's. Throws as `chosenServer` and `projectOfKey` do. */
export async function serverOf(
  values: AtServerOptions,
  { environment }: Shell,
  usage: string,
): Promise<ChosenServer> {
  const server = chosenServer(values, environment, usage)
  if (values.project !== undefined) await projectOfKey(server, values.project)
  return server
}

/** The words of a command line, as many as the command takes. Throws a UsageError with `missing` if there are fewer. */
export function wordsOf(
  words: readonly string[],
  {
    least,
    most = least,
    missing,
  }: { readonly least: number; readonly most?: number; readonly missing: string },
  usage: string,
): readonly string[] {
  if (words.length < least) throw new UsageError(missing, usage)
  const tooMuch = words[most]
  if (tooMuch !== undefined) throw new UsageError(`${JSON.stringify(tooMuch)} is one word too many.`, usage)
  return words
}

/** A whole number of 1 or more. */
export function countOf(text: string | undefined, byDefault: number, option: string, usage: string): number {
  const count = Number(text ?? byDefault)
  if (text !== '' && Number.isInteger(count) && count >= 1) return count
  throw new UsageError(`${option}: "${text}" is not a whole number of 1 or more.`, usage)
}

/** Prints a table with titles, as wide as the terminal, and paged; of no rows, a sentence on standard error. */
export async function showTable(
  { terminal, show, progress }: Shell,
  titles: readonly string[],
  rows: readonly (readonly (string | undefined)[])[],
  none: string,
): Promise<void> {
  if (rows.length === 0) progress.write(`${none}\n`)
  else
    await show(
      textTable([titles, ...rows.map((row) => row.map((cell) => oneLine(cell ?? '')))], terminal.columns),
    )
}

/** The name in `Ann <ann@example.com>`. */
export function authorName(author: string): string {
  return author.replace(/ <[^<>]*>$/, '')
}

/** Says on standard error what was done and where; with `--json` the server's answer goes to standard output. */
export function report(
  { print, progress }: Shell,
  { url }: ChosenServer,
  json: boolean | undefined,
  answer: string,
  sentence: string,
): void {
  if (json) print(answer)
  progress.write(`${sentence} at ${url}.\n`)
}
