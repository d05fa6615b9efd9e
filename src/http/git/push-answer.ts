import type { RefOutcome } from '../../versioning/push/ref-command.ts'
import { FLUSH, onBand, pktLine } from './pkt-line.ts'

/** What is told of a push. */
export interface PushReport {
  readonly outcomes: readonly RefOutcome[]
  /** Why the objects were not taken in at all; a short text. */
  readonly unpackError?: string | undefined
}

/**
 * The answer to a push in the way its capabilities ask for (report-status, side-band-64k): each ref's outcome, and the sentences
 * for the terminal, where git puts `remote: ` before each line.
 */
export function pushResponse(report: PushReport, capabilities: ReadonlySet<string>): Buffer {
  const status = capabilities.has('report-status') ? statusOf(report) : Buffer.alloc(0)
  if (!capabilities.has('side-band-64k')) return status
  const all = sentences(report, capabilities.has('quiet'))
  const said = all.slice(0, MOST_SENTENCES).join('') + more(all.length - MOST_SENTENCES)
  return Buffer.concat([onBand(2, Buffer.from(said)), onBand(1, status), FLUSH])
}

/** Of more refs than these nobody reads a line each on a terminal. */
const MOST_SENTENCES = 1000

function more(count: number): string {
  return count > 0 ? `… and ${count} more\n` : ''
}

/** gitprotocol-pack(5), report-status. */
function statusOf({ outcomes, unpackError }: PushReport): Buffer {
  const lines = outcomes.map(({ ref, refused }) =>
    pktLine(refused ? `ng ${ref} ${onOneLine(refused.reason)}\n` : `ok ${ref}\n`),
  )
  return Buffer.concat([
    pktLine(`unpack ${unpackError === undefined ? 'ok' : onOneLine(unpackError)}\n`),
    ...lines,
    FLUSH,
  ])
}

/** Each sentence once, on a line of its own; of what went well, only warnings where somebody asked for quiet. */
function sentences({ outcomes }: PushReport, isQuiet: boolean): string[] {
  const said = new Set<string>()
  for (const { refused, revision, warnings = [] } of outcomes) {
    if (refused) said.add(`${onOneLine(refused.sentence)}\n`)
    else if (revision && !isQuiet) said.add(`${revision.slug} is revision ${revision.id}\n`)
    for (const { code, message } of warnings) said.add(`warning: ${code}: ${onOneLine(message)}\n`)
  }
  return [...said]
}

/** What a push brought may be part of a sentence, and must not write over the terminal. */
function onOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
}
