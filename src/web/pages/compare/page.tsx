import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'
import { EndsBar, Standing } from '../../parts/compare/ends-bar.tsx'
import { type End, endsOf, nameOfEnd, endReferences, sideOf, textOfEnd } from '../../parts/compare/ends.ts'
import { LoadedRevisionDiff, type RevisionDiffView, RevisionDiff } from '../../parts/diff/revision-diff.tsx'
import { Page } from '../../parts/page/page.tsx'
import { RevisionChip } from '../../parts/revision-chip/revision-chip.tsx'
import { Empty } from '../../parts/states/empty.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { NewsLine } from '../../shell/news-line.tsx'
import { places } from '../../shell/places.ts'
import { MergeBox } from './merge-box.tsx'
import styles from './page.module.css'
import { useEndChoices } from '../../parts/compare/use-end-choices.ts'

type Revision = Answer<'POST /workflows/revisions/retrieve'>['workflow_revision']

/** Two ends of an artifact beside each other: `?from=parted` shows what the head changed since they parted, `?view=files` the files. */
export default function ComparedRevisionsPage() {
  const { slug = '', range = '' } = useParams({ strict: false }) as Readonly<
    Record<string, string | undefined>
  >
  const ends = endsOf(range)
  return (
    <Page
      wide
      crumbs={[{ label: 'Home', to: '/' }, { label: slug, to: places.artifact(slug) }, { label: 'Compare' }]}
    >
      {ends ? (
        <Comparison slug={slug} {...ends} />
      ) : (
        <Empty>
          Two ends are compared: <code>v:&lt;variant&gt;</code>, <code>r:&lt;revision&gt;</code> or{' '}
          <code>e:&lt;environment&gt;</code>, with three dots between them. “{range}” is not that.
        </Empty>
      )}
    </Page>
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
      <NewsLine concerns={({ references }) => Object.values(references).some((it) => it?.slug === slug)} />
      <EndsBar
        base={base}
        head={head}
        choices={choices}
        addressOf={addressOf}
        chips={{
          base: <Chip slug={slug} revision={before.data} />,
          head: <Chip slug={slug} revision={after.data} />,
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
        <div className={styles.from} role="group" aria-label="What is compared with the end">
          <button type="button" aria-pressed={!isParted} onClick={() => show({ from: undefined })}>
            Between both ends
          </button>
          <button type="button" aria-pressed={isParted} onClick={() => show({ from: 'parted' })}>
            Since they parted at v{parted.version}
          </button>
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

function Chip({ slug, revision }: { readonly slug: string; readonly revision: Revision | undefined }) {
  if (!revision) return null
  return (
    <RevisionChip
      to={places.revision(slug, revision.slug)}
      version={Number(revision.version)}
      author={revision.author}
      date={revision.date}
      subject={revision.subject}
    />
  )
}
