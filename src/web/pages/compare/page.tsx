import { useRoute } from '../../api/use-route.ts'
import { WorkflowChip } from '../../parts/chips/chips.tsx'
import { CompareFrame, EndsBar, Standing, useEndChoices } from '../../parts/compare/compare.tsx'
import { type End, nameOfEnd, endReferences, sideOf, textOfEnd } from '../../parts/compare/ends.ts'
import { nameOfPlace, rolesIn } from '../../parts/conflicts/conflict-texts.ts'
import { MergeBox } from '../../parts/conflicts/merge-box.tsx'
import { LoadedRevisionDiff, type RevisionDiffView, RevisionDiff } from '../../parts/diff/revision-diff.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { Toggles } from '../../parts/tabs/tabs.tsx'
import { places, useAddress, useChangeAddress } from '../../shell/places.ts'

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
  const change = useChangeAddress()
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
  const parted = compare?.merge_base ?? undefined
  const canPart = parted !== undefined && (compare?.behind ?? 0) > 0 && (compare?.ahead ?? 0) > 0
  const isParted = canPart && from === 'parted'
  const diffView = {
    view: view === 'files' ? 'files' : 'content',
    onView: (it: RevisionDiffView) => change({ view: it === 'files' ? it : undefined }, true),
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
      {compare && base.kind === 'variant' && before.data && after.data && (
        <MergeBox
          isAhead={compare.ahead > 0}
          family="workflow"
          slug={slug}
          names={{ source: nameOfEnd(head), target: base.slug }}
          sides={{ source: right, target: left }}
          revisions={{ source: after.data, target: before.data }}
          nameOf={(conflict) => nameOfPlace(conflict, rolesIn((conflict.in ? after : before).data?.data))}
        />
      )}
      {canPart && (
        <div className="gap-below">
          <Toggles
            label="Compare from"
            choices={[
              { value: undefined, label: 'Direct comparison' },
              { value: 'parted', label: `Since their last common version, v${parted.version}` },
            ]}
            value={isParted ? 'parted' : undefined}
            onChange={(value) => change({ from: value }, true)}
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
