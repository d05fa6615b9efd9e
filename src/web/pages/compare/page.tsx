import { useNavigate, useSearch } from '@tanstack/react-router'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { CompareFrame, EndsBar, Standing, useEndChoices } from '../../parts/compare/compare.tsx'
import { type End, nameOfEnd, endReferences, sideOf, textOfEnd } from '../../parts/compare/ends.ts'
import { LoadedRevisionDiff, type RevisionDiffView, RevisionDiff } from '../../parts/diff/revision-diff.tsx'
import { WorkflowChip } from '../../parts/chips/chips.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { Toggles } from '../../parts/tabs/tabs.tsx'
import { places } from '../../shell/places.ts'
import styles from './page.module.css'
import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/dialog.tsx'
import { TextField } from '../../parts/fields/fields.tsx'
import { Conflicts } from './conflicts.tsx'

/** Two ends of an artifact beside each other: `?from=parted` shows what the head changed since they parted, `?view=files` the files. */
export default function ComparedRevisionsPage() {
  return (
    <CompareFrame placeOf={places.artifact} kinds={['v:<variant>', 'r:<revision>', 'e:<environment>']}>
      {(slug, base, head) => <Comparison slug={slug} base={base} head={head} />}
    </CompareFrame>
  )
}

function Comparison({ slug, base, head }: { readonly slug: string; readonly base: End; readonly head: End }) {
  const { from, view } = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const navigate = useNavigate()
  const choices = useEndChoices(slug)
  const before = useEnd(slug, base)
  const after = useEnd(slug, head)
  const [left, right] = [sideOf(base, slug, before.data?.id ?? ''), sideOf(head, slug, after.data?.id ?? '')]
  const isHere = before.data !== undefined && after.data !== undefined
  const { data: compared, error: refused } = useRoute(
    'POST /workflows/variants/compare',
    { body: { base: left, head: right } },
    { enabled: isHere },
  )
  const compare = compared?.compare
  const error = before.error ?? after.error ?? refused
  const addressOf = (left: End, right: End): string => places.compare(slug, textOfEnd(left), textOfEnd(right))
  const show = (search: Readonly<Record<string, string | undefined>>): void =>
    void navigate({ to: addressOf(base, head), search: { from, view, ...search }, replace: true })
  const parted = compare?.merge_base ?? undefined
  const canPart = parted !== undefined && (compare?.behind ?? 0) > 0 && (compare?.ahead ?? 0) > 0
  const isParted = canPart && from === 'parted'
  const diffView = {
    view: view === 'files' ? 'files' : 'content',
    onView: (it: RevisionDiffView) => show({ view: it === 'files' ? it : undefined }),
  } as const
  return (
    <>
      <EndsBar
        base={base}
        head={head}
        choices={choices}
        addressOf={addressOf}
        chips={{
          base: before.data && <WorkflowChip artifact={slug} revision={before.data} />,
          head: after.data && <WorkflowChip artifact={slug} revision={after.data} />,
        }}
      />
      {error && <Failure error={error} />}
      {compare && (
        <Standing
          base={base}
          head={head}
          compare={compare}
          placeOf={(it) => places.revision(slug, it.slug)}
        />
      )}
      {compare && base.kind === 'variant' && before.data && compare.ahead > 0 && (
        <MergeBox
          names={{ source: nameOfEnd(head), target: base.slug }}
          sides={{ source: right, target: left }}
          targetRevision={before.data.id}
        />
      )}
      {canPart && (
        <div className={styles.from}>
          <Toggles
            label="What is compared with the end"
            choices={[
              { value: undefined, label: 'Between both ends' },
              { value: 'parted', label: `Since they parted at v${parted.version}` },
            ]}
            value={isParted ? 'parted' : undefined}
            onChange={(value) => show({ from: value })}
          />
        </div>
      )}
      {!error && !isHere && <Skeleton label="Loading what changed" lines={12} />}
      {before.data && after.data && isParted && (
        <RevisionDiff base={{ id: parted.id }} head={{ id: after.data.id }} {...diffView} />
      )}
      {before.data && after.data && !isParted && (
        <LoadedRevisionDiff base={before.data} head={after.data} {...diffView} />
      )}
    </>
  )
}

function useEnd(slug: string, end: End) {
  const { data, error } = useRoute('POST /workflows/revisions/retrieve', {
    body: endReferences(end, slug, 'workflow'),
  })
  return { data: data?.workflow_revision, error }
}

interface MergeBoxProps {
  readonly names: Names
  readonly sides: { readonly source: object; readonly target: object }
  /** The head that is shown: a merge into another one is refused. */
  readonly targetRevision: string
}

/** What a merge of the head into the base would come to, and the button that does it where nothing is in conflict. */
function MergeBox({ names, sides, targetRevision }: MergeBoxProps) {
  const [open, setOpen] = useState<Opened>()
  const { data, error } = useRoute('POST /workflows/variants/merge', { body: { ...sides, dry_run: true } })
  if (error) return <Failure error={error} />
  if (!data) return null
  const { merge } = data
  return (
    <section className={styles.merge} aria-label="What a merge would give">
      <div className={styles.verdict}>
        <p>{verdictOf(merge, names)}</p>
        {(merge.kind === 'fast_forward' || merge.kind === 'merge') && merge.conflicts.length === 0 && (
          <Button kind="primary" needs="write" onClick={() => setOpen('plain')}>
            Merge into {names.target}
          </Button>
        )}
      </div>
      {merge.conflicts.length > 0 && (
        <Conflicts merge={merge} sides={sides} targetRevision={targetRevision} takeAll={setOpen} />
      )}
      <MergeDialog
        key={open ?? 'closed'}
        open={open}
        close={() => setOpen(undefined)}
        merge={merge}
        body={{ ...sides, expected_target: targetRevision }}
        names={names}
      />
    </section>
  )
}

/** What the dialog was opened for: to merge, or to merge with one side of all conflicts. */
type Opened = 'plain' | 'target' | 'source' | undefined

/** The sides in words. */
interface Names {
  readonly source: string
  readonly target: string
}

type Merge = Answer<'POST /workflows/variants/merge'>['merge']

function verdictOf({ kind, conflicts, truncated }: Merge, { source, target }: Names): string {
  if (kind === 'up_to_date') return `${target} has everything of ${source} already.`
  if (conflicts.length > 0) {
    return `A merge of ${source} into ${target} meets ${conflictsIn({ conflicts, truncated })}.`
  }
  if (kind === 'fast_forward') {
    return `A merge of ${source} into ${target} is a fast-forward: ${target} moves, and no commit is made.`
  }
  return `A merge of ${source} into ${target} has no conflicts; it makes a merge commit.`
}

function conflictsIn({ conflicts, truncated }: Pick<Merge, 'conflicts' | 'truncated'>): string {
  const count = `${conflicts.length.toLocaleString()}${truncated ? ' or more' : ''}`
  return `${count} ${conflicts.length === 1 ? 'conflict' : 'conflicts'}`
}

function MergeDialog({
  open,
  close,
  merge,
  body,
  names,
}: {
  readonly open: Opened
  readonly close: () => void
  readonly merge: Merge
  readonly body: { readonly source: object; readonly target: object; readonly expected_target: string }
  readonly names: Names
}) {
  const [message, setMessage] = useState('')
  const { mutate, error, isPending } = useWrite('POST /workflows/variants/merge')
  const merged = message.trim()
  const all = open === 'plain' ? undefined : open
  const run = (): void =>
    mutate(
      {
        body: {
          ...body,
          ...(merged === '' ? {} : { message: merged }),
          ...(all === undefined ? {} : { resolutions: [{ all }] }),
        },
      },
      { onSuccess: close },
    )
  return (
    <Modal
      open={open !== undefined}
      close={close}
      title={`Merge ${names.source} into ${names.target}`}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" needs="write" busy={isPending} onClick={run}>
            Merge into {names.target}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!isPending) run()
        }}
      >
        {all && (
          <p>
            Where both changed the same, {names[all]} wins, in {conflictsIn(merge)}.
          </p>
        )}
        <TextField
          label="Message"
          value={message}
          onChange={setMessage}
          placeholder={`Merge ${names.source} into ${names.target}`}
          hint={
            merge.kind === 'fast_forward'
              ? 'Without a message the variant moves to the revision; with one a merge commit is made.'
              : 'Without a message the server writes one.'
          }
          autoFocus
        />
      </form>
      {error && <Failure error={error} />}
    </Modal>
  )
}
