import { useMemo, useState } from 'react'
import type { Answer, Ask } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'
import { Failure, Skeleton } from '../states/states.tsx'
import { Toggles } from '../tabs/tabs.tsx'
import { DataDiff, LineCounts } from './data-diff.tsx'
import { DiffFrame } from './diff-frame.tsx'
import styles from './diff.module.css'
import { parsePatch } from 'diff'
import { besideEachOther, type Hunk, type LineDiff, type LineRow, type NumberedLine } from './line-diff.ts'
import { LineTable } from './lines.tsx'
import { visible } from '../text/text.tsx'

/** A reference to a revision: `{id}`, or `{slug, version}`. */
export type RevisionReference = NonNullable<Ask<'POST /workflows/revisions/diff'>['body']>['base']

/** The view: payloads, or files in git. */
export type RevisionDiffView = 'content' | 'files'

export interface RevisionDiffProps extends ViewProps {
  /** Undefined if there is none: everything is new. */
  readonly base: RevisionReference | undefined
  readonly head: RevisionReference
}

export interface LoadedRevisionDiffProps extends ViewProps {
  readonly base: Revision | undefined
  readonly head: Revision
}

interface ViewProps {
  /** The shown view, if the page controls it. */
  readonly view?: RevisionDiffView
  readonly onView?: (view: RevisionDiffView) => void
}

/** What changed between two revisions of prompts, evaluators or workflows. */
export function RevisionDiff({ base, head, ...view }: RevisionDiffProps) {
  const before = useRevision(base)
  const after = useRevision(head)
  const error = before.error ?? after.error
  if (error) return <Failure error={error} />
  if (!after.data || (base !== undefined && !before.data)) {
    return <Skeleton label="Loading what changed" lines={10} />
  }
  return <LoadedRevisionDiff base={before.data} head={after.data} {...view} />
}

/** The same for revisions that are already loaded, with their payloads. */
export function LoadedRevisionDiff({ base, head, view, onView }: LoadedRevisionDiffProps) {
  const [kept, setKept] = useState<RevisionDiffView>('content')
  const content = useMemo(() => [base && contentOf(base), contentOf(head)] as const, [base, head])
  if (!base) return <DataDiff base={undefined} head={content[1]} same="The version is empty." />
  const shown = view ?? kept
  const references = { base: { id: base.id }, head: { id: head.id } }
  const views = (
    <Toggles label="What is compared" choices={VIEWS} value={shown} onChange={onView ?? setKept} />
  )
  if (shown === 'files') return <Files {...references} views={views} />
  return <DataDiff base={content[0]} head={content[1]} views={views} same={<Unseen {...references} />} />
}

const VIEWS = [
  { value: 'content', label: 'Content' },
  { value: 'files', label: 'Files' },
] as const

type Revision = Answer<'POST /workflows/revisions/retrieve'>['workflow_revision']

function useRevision(reference: RevisionReference | undefined) {
  const { data, error } = useRoute(
    'POST /workflows/revisions/retrieve',
    { body: { workflow_revision_ref: reference ?? {} } },
    { enabled: reference !== undefined, immutable: true },
  )
  return { data: data?.workflow_revision, error }
}

/** The content of a revision: its payload without the address that the server adds, and its header. */
function contentOf({ id, data: { url, ...data } = {}, name, description, tags, meta, flags }: Revision) {
  const isMade = typeof url === 'string' && url.endsWith(`/${id}`)
  const header = Object.entries({ name, description, tags, meta, flags }).filter(
    ([, value]) => value !== undefined,
  )
  return {
    ...data,
    ...(isMade || url === undefined ? {} : { url }),
    ...(header.length > 0 ? { header: Object.fromEntries(header) } : {}),
  }
}

function Files({
  base,
  head,
  views,
}: {
  readonly base: RevisionReference
  readonly head: RevisionReference
  readonly views: React.ReactNode
}) {
  const { data, error } = useRoute(
    'POST /workflows/revisions/diff',
    { body: { base, head } },
    { immutable: true },
  )
  const files = data?.diff.files ?? []
  return (
    <DiffFrame
      views={views}
      summary={files.length === 1 ? '1 file' : `${files.length.toLocaleString()} files`}
    >
      {error && <Failure error={error} />}
      {!data && !error && <Skeleton label="Loading what changed" lines={10} />}
      {data && files.length === 0 && <p className={styles.same}>Both versions have the same files.</p>}
      <FileDiffs files={files} />
    </DiffFrame>
  )
}

/** Equal values may be in different files: in the order of keys, in digits that a browser drops, or in other files of the repository. */
function Unseen({ base, head }: { readonly base: RevisionReference; readonly head: RevisionReference }) {
  const { data } = useRoute('POST /workflows/revisions/diff', { body: { base, head } }, { immutable: true })
  if (!data) return 'The content is the same.'
  if (data.diff.files.length === 0) return 'No changes: both versions are identical.'
  return (
    <>
      <p>The content is the same, but these files differ.</p>
      <FileDiffs files={data.diff.files} />
    </>
  )
}

interface FileDiffsProps {
  /** The server's comparison: a unified diff for each file. */
  readonly files: readonly { readonly path: string; readonly diff: string }[]
}

/** The changed files of two revisions in git. */
function FileDiffs({ files }: FileDiffsProps) {
  return files.map((file) => <FileDiff key={file.path} {...file} />)
}

function FileDiff({ path, diff }: FileDiffsProps['files'][number]) {
  const lines = useMemo(() => linesOf(diff), [diff])
  return (
    <div>
      <h2 className={styles.heading}>
        <code dir="auto">{visible(path)}</code>{' '}
        {lines && <LineCounts added={lines.added} removed={lines.removed} />}
      </h2>
      <div className={styles.framed}>
        {lines && lines.rows.length > 0 ? (
          <LineTable label={path} diff={lines} />
        ) : (
          <pre className={styles.raw}>{visible(diff)}</pre>
        )}
      </div>
    </div>
  )
}

/** Parses a unified diff; undefined if it is not one (a binary file). */
function linesOf(diff: string): LineDiff | undefined {
  const hunks = hunksOf(diff)
  if (!hunks) return undefined
  const rows: LineRow[] = []
  const marks = new Map<number, Hunk>()
  let [added, removed, changes] = [0, 0, 0]
  for (const { oldStart, oldLines, newStart, newLines, lines } of hunks) {
    marks.set(rows.length, {
      base: { start: oldStart, lines: oldLines },
      head: { start: newStart, lines: newLines },
    })
    let [baseAt, headAt] = [oldStart, newStart]
    let [base, head]: [NumberedLine[], NumberedLine[]] = [[], []]
    const flush = (): void => {
      if (base.length + head.length > 0) changes++
      for (const row of besideEachOther(base, head)) rows.push(row)
      ;[base, head] = [[], []]
    }
    for (const line of lines) {
      const text = line.slice(1)
      if (line.startsWith('-')) removed += base.push({ number: baseAt++, text }) > 0 ? 1 : 0
      else if (line.startsWith('+')) added += head.push({ number: headAt++, text }) > 0 ? 1 : 0
      else if (!line.startsWith('\\')) {
        flush()
        rows.push({ base: { number: baseAt++, text }, head: { number: headAt++, text }, isSame: true })
      }
    }
    flush()
  }
  return { rows, added, removed, changes, hunks: marks }
}

function hunksOf(diff: string) {
  try {
    return parsePatch(diff)[0]?.hunks
  } catch {
    return undefined
  }
}
