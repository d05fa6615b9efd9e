import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { useState } from 'react'
import { type Answer, call } from '../../api/call.ts'
import { membersOf } from '../../api/json.ts'
import { writeOurs } from '../../api/ours.ts'
import { useCommands } from '../../shell/commands.tsx'
import { useRefusal, useSession } from '../../shell/session.tsx'
import { Button } from '../button/button.tsx'
import { FormDialog } from '../dialog/dialog.tsx'
import { LongTextField } from '../fields/fields.tsx'
import { Failure } from '../states/states.tsx'
import { Ago } from '../time/time.tsx'
import styles from './feedback.module.css'
import { useWork } from '../../api/use-route.ts'

/** What somebody said about a trace: a thumb, and perhaps a note. */
export interface Feedback {
  readonly id: string
  readonly isApproved: boolean | undefined
  readonly comment: string | undefined
  /** The id of the key that gave the feedback. */
  readonly by: string
  /** The name of that key. */
  readonly name: string
  readonly date: string
}

/** The feedback on a trace, the newest first. */
function useFeedback(traceId: string) {
  return useQuery({
    queryKey: ['feedback', traceId],
    queryFn: async ({ signal }) => {
      const body = { annotation: { trace_id: traceId } }
      return feedbackIn((await call('POST /annotations/query', { body }, signal)).annotations)
    },
    staleTime: 2000,
  })
}

/** Reads annotations, in their order. */
export function feedbackIn(annotations: Annotations = []): readonly Feedback[] {
  return annotations.map(({ id, created_at: date, author, data }) => {
    const { approved, comment } = membersOf(data.outputs)
    return {
      id,
      isApproved: typeof approved === 'boolean' ? approved : undefined,
      comment: typeof comment === 'string' && comment !== '' ? comment : undefined,
      by: author.id,
      name: author.name,
      date,
    }
  })
}

type Annotations = Answer<'POST /annotations/query'>['annotations']

/** Why the key may not give feedback; undefined if it may. */
function useFeedbackRefusal(): string | undefined {
  const annotate = useRefusal('annotate')
  const write = useRefusal('write')
  return write === undefined ? undefined : annotate
}

/** Gives and retracts feedback on a trace. A new thumb takes the place of the one before. */
function useGiveFeedback(traceId: string, current: Feedback | undefined) {
  const cache = useQueryClient()
  const { start, isBusy, error } = useWork()
  async function change(next: { readonly approved?: boolean; readonly comment?: string } | undefined) {
    try {
      if (next) {
        const body = { annotation: { trace_id: traceId, data: { outputs: next } } }
        await writeOurs(() => call('POST /annotations', { body }))
      }
      if (current) {
        const path = { id: current.id }
        await writeOurs(() => call('DELETE /annotations/{id}', { path }))
      }
    } finally {
      await cache.invalidateQueries({
        predicate: ({ queryKey }) => queryKey[0] === 'feedback' || queryKey[0] === 'POST /traces/query',
      })
    }
  }
  return {
    change,
    error,
    isBusy,
    attempt: (next: Parameters<typeof change>[0]) => void start(() => change(next)),
  }
}

/** The feedback on a trace: two thumbs, a note, and what was said. */
export function FeedbackBar({ traceId }: { readonly traceId: string }) {
  const { data: all = [], error: notRead } = useFeedback(traceId)
  const { principal } = useSession()
  const current = all.find(({ by }) => by === principal.id)
  const { change, attempt, error: notGiven, isBusy } = useGiveFeedback(traceId, current)
  const [isNoting, setNoting] = useState(false)
  const refusal = useFeedbackRefusal()
  const press = (approved: boolean): void =>
    attempt(
      current?.isApproved === approved
        ? undefined
        : { approved, ...(current?.comment === undefined ? {} : { comment: current.comment }) },
    )
  useCommands([
    { id: 'approve', title: 'Approve the trace', keys: '+', refusal, run: () => press(true) },
    { id: 'reject', title: 'Reject the trace', keys: '-', refusal, run: () => press(false) },
    { id: 'note', title: 'Write a note on the trace', keys: 'm', refusal, run: () => setNoting(true) },
  ])
  const error = notGiven ?? notRead
  return (
    <section aria-label="Feedback" className={styles.bar}>
      {THUMBS.map(({ isApproved, word, Icon }) => (
        <Button
          key={word}
          kind="quiet"
          refusal={refusal}
          busy={isBusy}
          aria-pressed={current?.isApproved === isApproved}
          onClick={() => press(isApproved)}
        >
          <Icon size={16} aria-hidden /> {word}
        </Button>
      ))}
      <Button kind="quiet" refusal={refusal} busy={isBusy} onClick={() => setNoting(true)}>
        {current?.comment === undefined ? 'Add a note …' : 'Edit the note …'}
      </Button>
      <div role="status">
        <ul className={`row-wide ${styles.said}`}>
          {all.map((it) => (
            <li key={it.id}>
              <FeedbackMark of={it} /> {it.comment !== undefined && <q dir="auto">{it.comment}</q>}{' '}
              <span className="muted">
                {it.name} <Ago date={it.date} inSentence />
              </span>
            </li>
          ))}
        </ul>
      </div>
      {error !== undefined && error !== null && <Failure error={error} />}
      {isNoting && (
        <NoteDialog
          current={current}
          save={(comment) =>
            change({
              ...(current?.isApproved === undefined ? {} : { approved: current.isApproved }),
              ...(comment === '' ? {} : { comment }),
            })
          }
          close={() => setNoting(false)}
        />
      )}
    </section>
  )
}

const THUMBS = [
  { isApproved: true, word: 'Approve', Icon: ThumbsUp },
  { isApproved: false, word: 'Reject', Icon: ThumbsDown },
] as const

interface NoteDialogProps {
  readonly current: Feedback | undefined
  readonly save: (comment: string) => Promise<void>
  readonly close: () => void
}

function NoteDialog({ current, save, close }: NoteDialogProps) {
  const [text, setText] = useState(current?.comment ?? '')
  return (
    <FormDialog
      title="Note on this trace"
      action="Save the note"
      submit={() => save(text.trim())}
      close={close}
    >
      <LongTextField
        label="Note"
        value={text}
        onChange={setText}
        rows={4}
        autoFocus
        onKeyDown={({ key, ctrlKey, metaKey, currentTarget }) => {
          if (key === 'Enter' && (ctrlKey || metaKey)) currentTarget.form?.requestSubmit()
        }}
      />
    </FormDialog>
  )
}

/** Whether a trace was approved: a thumb and a word. */
export function FeedbackMark({ of: { isApproved } }: { readonly of: Pick<Feedback, 'isApproved'> }) {
  if (isApproved === undefined) return <span>note</span>
  const Icon = isApproved ? ThumbsUp : ThumbsDown
  return (
    <span className={isApproved ? styles.approved : styles.rejected}>
      <Icon size={14} aria-hidden /> {isApproved ? 'approved' : 'rejected'}
    </span>
  )
}
