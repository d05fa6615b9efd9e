import { useRoute } from '../../api/use-route.ts'
import { CompareFrame, EndsBar, Standing, useEndChoices } from '../../parts/compare/compare.tsx'
import { type End, endReferences, nameOfEnd, sideOf, textOfEnd } from '../../parts/compare/ends.ts'
import { RevisionChip } from '../../parts/chips/chips.tsx'
import { MergeBox } from '../../parts/conflicts/merge-box.tsx'
import { RowDiff } from '../../parts/row-diff/row-diff.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { places } from '../../shell/places.ts'

/** Compares two revisions of a testset row by row. */
export default function CompareTestsetPage() {
  return (
    <CompareFrame placeOf={places.testset} kinds={['v:<variant>', 'r:<revision>']}>
      {(slug, base, head) => <Comparison slug={slug} base={base} head={head} />}
    </CompareFrame>
  )
}

function Comparison({ slug, base, head }: { readonly slug: string; readonly base: End; readonly head: End }) {
  const choices = useEndChoices('testset', slug)
  const before = useEnd(slug, base)
  const after = useEnd(slug, head)
  const isHere = before.data !== undefined && after.data !== undefined
  const { data: compared } = useRoute(
    'POST /testsets/variants/compare',
    {
      body: {
        base: sideOf(base, slug, before.data?.id ?? ''),
        head: sideOf(head, slug, after.data?.id ?? ''),
        windowing: { limit: 1 },
      },
    },
    { enabled: isHere },
  )
  const error = before.error ?? after.error
  return (
    <>
      <EndsBar
        base={base}
        head={head}
        choices={choices}
        addressOf={(left, right) => places.compareTestset(slug, textOfEnd(left), textOfEnd(right))}
        chips={{
          base: <Chip slug={slug} revision={before.data} />,
          head: <Chip slug={slug} revision={after.data} />,
        }}
      />
      {error && <Failure error={error} />}
      {compared && (
        <Standing
          base={base}
          head={head}
          compare={compared.compare}
          placeOf={({ version, slug: revision }) => placeOf(slug, revision, version)}
        />
      )}
      {compared && base.kind === 'variant' && before.data && after.data && (
        <MergeBox
          isAhead={compared.compare.ahead > 0}
          family="testset"
          slug={slug}
          names={{ source: nameOfEnd(head), target: base.slug }}
          sides={{ source: sideOf(head, slug, after.data.id), target: sideOf(base, slug, before.data.id) }}
          revisions={{ source: after.data, target: before.data }}
        />
      )}
      {!error && !isHere && <Skeleton label="Loading which rows changed" lines={12} />}
      {before.data && after.data && <RowDiff base={{ id: before.data.id }} head={{ id: after.data.id }} />}
    </>
  )
}

/** The page of a testset's revision is addressed by variant and version, which a chosen slug does not contain. */
function placeOf(slug: string, revision: string, version: number | string): string {
  const suffix = `-${version}`
  const variant = revision.endsWith(suffix) ? revision.slice(0, -suffix.length) : slug
  return places.testsetVersion(slug, variant, Number(version))
}

function useEnd(slug: string, end: End) {
  const { data, error } = useRoute('POST /testsets/revisions/retrieve', {
    body: { ...endReferences(end, slug, 'testset'), include_testcases: false, include_testcase_ids: false },
  })
  return { data: data?.testset_revision, error }
}

interface ShownRevision {
  readonly slug: string
  readonly version: number | string
  readonly testset_variant_slug: string
  readonly author: string
  readonly date: string
  readonly subject: string
}

function Chip({ slug, revision }: { readonly slug: string; readonly revision: ShownRevision | undefined }) {
  if (!revision) return null
  const { version, testset_variant_slug: variant, author, date, subject } = revision
  return (
    <RevisionChip
      to={places.testsetVersion(slug, variant, Number(version))}
      version={Number(version)}
      author={author}
      date={date}
      subject={subject}
    />
  )
}
