import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { WorkflowChip } from '../../parts/chips/chips.tsx'
import { CompareFrame, EndsBar, Standing, useEndChoices } from '../../parts/compare/compare.tsx'
import { type End, nameOfEnd, endReferences, sideOf, textOfEnd } from '../../parts/compare/ends.ts'
import { Copyable } from '../../parts/copy/copyable.tsx'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { wordMarks } from '../../parts/diff/line-diff.ts'
import { LineText } from '../../parts/diff/lines.tsx'
import { LoadedRevisionDiff, type RevisionDiffView, RevisionDiff } from '../../parts/diff/revision-diff.tsx'
import { TextField } from '../../parts/fields/fields.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { Toggles } from '../../parts/tabs/tabs.tsx'
import { places, useAddress } from '../../shell/places.ts'
import styles from './page.module.css'

/** Compares two revisions. `?from=parted` compares the head with the last common version, `?view=files` shows files. */
export default function ComparedRevisionsPage() {
  return (
    <CompareFrame placeOf={places.artifact} kinds={['v:<variant>', 'r:<revision>', 'e:<environment>']}>
      {(slug, base, head) => <Comparison slug={slug} base={base} head={head} />}
    </CompareFrame>
  )
}

function Comparison({ slug, base, head }: { readonly slug: string; readonly base: End; readonly head: End }) {
  const { from, view } = useAddress()
  const navigate = useNavigate()
  const choices = useEndChoices('workflow', slug)
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
        <Mergeox
          names={{ source: nameOfEnd(head), target: base.slug }}
          sides={{ source: right, target: left }}
          targetRevision={before.data.id}
        />
      )}
      {canPart && (
        <div className={styles.from}>
          <Toggles
            label="Compare from"
            choices={[
              { value: undefined, label: 'Direct comparison' },
              { value: 'parted', label: `Since their last common version, v${parted.version}` },
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

interface MergeoxProps {
  readonly names: Names
  readonly sides: { readonly source: object; readonly target: object }
  /** The head shown: if it has moved, the merge is refused. */
  readonly targetRevision: string
}

/** The result of a merge of the head into the base, and a button that merges if there is no conflict. */
function Mergeox({ names, sides, targetRevision }: MergeoxProps) {
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
      {open && (
        <MergeDialog
          open={open}
          close={() => setOpen(undefined)}
          merge={merge}
          body={{ ...sides, expected_target: targetRevision }}
          names={names}
        />
      )}
    </section>
  )
}

/** Why the dialog was opened: to merge, or to merge with one side of all conflicts. */
type Opened = 'plain' | 'target' | 'source' | undefined

/** The names of both sides. */
interface Names {
  readonly source: string
  readonly target: string
}

type Merge = Answer<'POST /workflows/variants/merge'>['merge']

function verdictOf({ kind, conflicts, truncated }: Merge, { source, target }: Names): string {
  if (kind === 'up_to_date') return `${target} already has everything from ${source}.`
  if (conflicts.length > 0) {
    return `Merging ${source} into ${target}: ${conflictsIn({ conflicts, truncated })}.`
  }
  if (kind === 'fast_forward') {
    return `Merging ${source} into ${target} is a fast-forward: no merge commit is needed.`
  }
  return `Merging ${source} into ${target} has no conflicts and makes a merge commit.`
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
  readonly open: NonNullable<Opened>
  readonly close: () => void
  readonly merge: Merge
  readonly body: { readonly source: object; readonly target: object; readonly expected_target: string }
  readonly names: Names
}) {
  const [message, setMessage] = useState('')
  const { mutateAsync } = useWrite('POST /workflows/variants/merge')
  const merged = message.trim()
  const all = open === 'plain' ? undefined : open
  const asked = {
    ...body,
    ...(merged === '' ? {} : { message: merged }),
    ...(all === undefined ? {} : { resolutions: [{ all }] }),
  }
  return (
    <FormDialog
      title={`Merge ${names.source} into ${names.target}`}
      action={`Merge into ${names.target}`}
      needs="write"
      submit={() => mutateAsync({ body: asked })}
      close={close}
    >
      {all && (
        <p>
          Resolves {conflictsIn(merge)} with the text of {names[all]}.
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
            : 'If left empty, the server writes one.'
        }
        autoFocus
      />
    </FormDialog>
  )
}

type Conflict = Merge['conflicts'][number]

const WORDS: Readonly<Record<Conflict['kind'], string>> = {
  both_changed: 'changed on both sides',
  changed_and_removed: 'changed on one side, removed on the other',
  both_added: 'added on both sides',
  order: 'moved on both sides',
}

const CONFLICTS_PER_STEP = 20

/** The conflicts of a merge, with the original, current and incoming text of each, and the command that resolves them. */
function Conflicts({
  merge: { conflicts },
  sides,
  targetRevision,
  takeAll,
}: {
  readonly merge: Merge
  readonly sides: object
  readonly targetRevision: string
  /** Opens the merge with one side of all conflicts. */
  readonly takeAll: (side: 'target' | 'source') => void
}) {
  const [shown, setShown] = useState(CONFLICTS_PER_STEP)
  return (
    <>
      <ol className={styles.conflicts}>
        {conflicts.slice(0, shown).map((conflict, at) => (
          <li key={at}>
            <ConflictBlock conflict={conflict} />
          </li>
        ))}
      </ol>
      {conflicts.length > shown && (
        <button type="button" className={styles.more} onClick={() => setShown(shown + CONFLICTS_PER_STEP)}>
          {(conflicts.length - shown).toLocaleString()} more conflicts
        </button>
      )}
      <div className={styles.takeAll}>
        <Button needs="write" onClick={() => takeAll('target')}>
          Use current for all
        </Button>
        <Button needs="write" onClick={() => takeAll('source')}>
          Use incoming for all
        </Button>
      </div>
      <p>
        Or decide each one: write <code>target</code>, <code>source</code>, <code>base</code> or your own
        value into this command.
      </p>
      <Copyable
        label="Command that merges with resolutions"
        text={commandOf(conflicts, sides, targetRevision)}
      />
    </>
  )
}

function ConflictBlock({ conflict }: { readonly conflict: Conflict }) {
  const { place, kind, base, target, source, marked } = conflict
  const regions = marked === undefined ? [] : regionsOf(marked)
  return (
    <section className={styles.conflict} aria-label={`Conflict at ${placeText(place)}`}>
      <h3>
        <code dir="auto">{placeText(place)}</code> <span>{WORDS[kind]}</span>
      </h3>
      {regions.slice(0, CONFLICTS_PER_STEP).map((region, at) => (
        <div key={at} className={styles.values}>
          {SIDES.map((side) => (
            <SideText key={side} side={side} region={region} />
          ))}
        </div>
      ))}
      {regions.length === 0 && (
        <div className={styles.values}>
          <SideValue name={NAMES.base} value={base} />
          <SideValue name={NAMES.target} value={target} />
          <SideValue name={NAMES.source} value={source} />
        </div>
      )}
    </section>
  )
}

const SIDES = ['base', 'target', 'source'] as const
const NAMES = { base: 'Original', target: 'Current', source: 'Incoming' } as const

/** The lines of one side, with the differences from the original marked. */
function SideText({ side, region }: { readonly side: (typeof SIDES)[number]; readonly region: Region }) {
  const text = region[side]
  const marks = side === 'base' ? undefined : wordMarks(region.base, text)
  return (
    <div>
      <h4>{NAMES[side]}</h4>
      {text === '' ? (
        <p className={styles.none}>nothing</p>
      ) : (
        <div className={styles.text} dir="auto">
          <LineText side="head" parts={marks?.head ?? [{ text, isChanged: false }]} />
        </div>
      )}
    </div>
  )
}

function SideValue({ name, value }: { readonly name: string; readonly value: unknown }) {
  return (
    <div>
      <h4>{name}</h4>
      {value === undefined ? <p className={styles.none}>nothing</p> : <JsonView value={value} depth={1} />}
    </div>
  )
}

function placeText(place: Conflict['place']): string {
  return typeof place === 'string' ? place : JSON.stringify(place)
}

/** The request with the incoming side of each conflict, to be copied and changed. */
function commandOf(conflicts: readonly Conflict[], sides: object, targetRevision: string): string {
  const resolutions = conflicts.slice(0, CONFLICTS_PER_STEP).map(({ place, in: where }) => ({
    place,
    ...(where === undefined ? {} : { in: where }),
    take: 'source',
  }))
  const body = JSON.stringify({ ...sides, expected_target: targetRevision, resolutions }).replaceAll(
    "'",
    "'\\''",
  )
  return `curl "$BRANCHPOINT_URL/workflows/variants/merge" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -H 'Content-Type: application/json' -d '${body}'`
}

/** The lines of the three sides in one conflict. */
interface Region {
  readonly target: string
  readonly base: string
  readonly source: string
}

const MARKS = ['<<<<<<<', '|||||||', '=======', '>>>>>>>'] as const

/** The conflicts of a text, from the markers that git writes (`diff3`). */
function regionsOf(marked: string): readonly Region[] {
  const regions: Region[] = []
  let sides: [target: string[], base: string[], source: string[]] = [[], [], []]
  let side = -1
  for (const line of marked.split('\n')) {
    // A marker counts only in its order: texts may contain such lines.
    const next = MARKS[side + 1]
    if (next === undefined || !(line === next || line.startsWith(`${next} `))) {
      sides[side]?.push(line)
      continue
    }
    side++
    if (side < sides.length) continue
    const [target, base, source] = sides.map((lines) => lines.join('\n'))
    regions.push({ target: target ?? '', base: base ?? '', source: source ?? '' })
    sides = [[], [], []]
    side = -1
  }
  return regions
}
