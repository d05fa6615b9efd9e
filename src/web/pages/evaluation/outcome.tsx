import type { Answer } from '../../api/call.ts'
import { shownScore } from '../../parts/evaluation/evaluation.tsx'
import { membersOf } from '../../api/json.ts'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Fold } from '../../parts/text/text.tsx'
import { Conversation } from '../../parts/conversation/conversation.tsx'
import { messagesIn, saidIn } from '../../parts/conversation/read-messages.ts'
import styles from './evaluation.module.css'

/** The result of a row, as the interface answers it. */
export type RowResult = Answer<'POST /evaluations/{id}/results'>['results'][number]

/** The result of a run: of the prompt, or of an evaluator. */
type RunResult = RowResult['application']

/** `scored`: a number without a verdict. `said`: neither. `absent`: skipped, since the prompt failed. */
type OutcomeKind = 'passed' | 'failed' | 'error' | 'scored' | 'said' | 'absent'

/** The verdict of an evaluator on a row. */
export interface Outcome {
  readonly kind: OutcomeKind
  readonly score?: number
  /** Why it failed. */
  readonly message?: string
}

/** Reads an evaluator's outputs as the summaries do: `success`, and `score` or `aggregate_score`; a verdict alone counts as 1 or 0. */
export function outcomeOf(result: RunResult | undefined): Outcome {
  if (result === undefined) return { kind: 'absent' }
  if ('error' in result) return { kind: 'error', message: `${result.error.code}: ${result.error.message}` }
  const { outputs } = result
  if (typeof outputs === 'number') return { kind: 'scored', score: outputs }
  if (typeof outputs !== 'object' || outputs === null || Array.isArray(outputs)) return { kind: 'said' }
  const said = outputs as Readonly<Record<string, unknown>>
  const graded = said['score'] ?? said['aggregate_score']
  const verdict = said['success'] ?? graded
  const score = typeof graded === 'number' ? graded : undefined
  if (typeof verdict === 'boolean') {
    return { kind: verdict ? 'passed' : 'failed', ...(score === undefined ? {} : { score }) }
  }
  return score === undefined ? { kind: 'said' } : { kind: 'scored', score }
}

/** The rank of an outcome: an error is worse than any score. */
export function rankOf({ kind, score }: Outcome): number | undefined {
  if (kind === 'error' || kind === 'absent') return Number.NEGATIVE_INFINITY
  return score ?? (kind === 'passed' ? 1 : kind === 'failed' ? 0 : undefined)
}

/** The prompt's output, or its error, as text; of a chat, what it said. */
export function outputOf({ application }: RowResult): string {
  return 'error' in application ? application.error.message : saidIn(application.outputs)
}

const SIGNS: Readonly<Record<OutcomeKind, readonly [sign: string, word: string]>> = {
  passed: ['✓', 'passed'],
  failed: ['✗', 'failed'],
  error: ['!', 'error'],
  scored: ['≈', 'scored'],
  said: ['·', 'no verdict'],
  absent: ['–', 'skipped'],
}

/** An outcome in words: `passed 1.000`. */
export function wordOf({ kind, score }: Outcome): string {
  return score === undefined ? SIGNS[kind][1] : `${SIGNS[kind][1]} ${shownScore(score)}`
}

interface VerdictProps {
  /** The evaluator, with its version; a long name is cut, the version never. */
  readonly name?: string
  readonly version?: number
  readonly outcome: Outcome
}

/** A verdict: a sign, a word, and the score if there is one. */
export function Verdict({ name, version, outcome }: VerdictProps) {
  const { kind, score, message } = outcome
  const [sign, word] = SIGNS[kind]
  return (
    <span className={styles.verdict} title={message}>
      {name !== undefined && <span className="clip muted">{name}</span>}
      {version !== undefined && <span className="muted">v{version}</span>}
      <b data-kind={kind}>
        <span aria-hidden>{sign}</span> {word}
      </b>
      {score !== undefined && <span className="muted">{shownScore(score)}</span>}
    </span>
  )
}

/** A whole result: messages as a conversation, texts as text, other values as JSON, errors by their message. */
export function Value({ of }: { readonly of: RunResult }) {
  if ('error' in of) {
    return (
      <div className={styles.failure}>
        <b>! {of.error.code}</b>
        <Fold text={of.error.message} />
      </div>
    )
  }
  const { outputs } = of
  const found = messagesIn(outputs)
  if (found && Object.keys(found.rest).length === 0) return <Conversation messages={found.messages} />
  return (
    <div className={`card ${styles.value}`}>
      {typeof outputs === 'string' ? <Fold text={outputs} /> : <JsonView value={outputs} />}
    </div>
  )
}

/** What an evaluator said besides its verdict and score, which stand in the heading. */
export function Reason({ of }: { readonly of: RunResult }) {
  if ('error' in of) return <Value of={of} />
  const { success: _, score: __, ...rest } = membersOf(of.outputs)
  const { reason, ...others } = rest
  const isRecord = typeof of.outputs === 'object' && of.outputs !== null && !Array.isArray(of.outputs)
  if (!isRecord) return <Value of={of} />
  return (
    <>
      {typeof reason === 'string' && <Value of={{ outputs: reason }} />}
      {Object.keys(typeof reason === 'string' ? others : rest).length > 0 && (
        <Value of={{ outputs: (typeof reason === 'string' ? others : rest) as never }} />
      )}
    </>
  )
}
