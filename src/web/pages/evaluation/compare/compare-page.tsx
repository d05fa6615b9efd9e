import { useRoute } from '../../../api/use-route.ts'
import type { Evaluation } from '../../../parts/evaluation/evaluation-state.tsx'
import { Page } from '../../../parts/page/page.tsx'
import { Failure } from '../../../parts/states/failure.tsx'
import { Progress } from '../../../parts/states/progress.tsx'
import { Skeleton } from '../../../parts/states/skeleton.tsx'
import { places } from '../../../shell/places.ts'
import { CompareRows } from './compare-rows.tsx'
import { CompareSummary } from './compare-summary.tsx'
import { useCompared } from './use-compared.ts'

/** Two runs side by side. Each is asked for by itself: they may be of different versions of prompt and testset. */
export function ComparePage({ left, right }: { readonly left: string; readonly right: string }) {
  const before = useRoute('GET /evaluations/{id}', { path: { id: left } })
  const after = useRoute('GET /evaluations/{id}', { path: { id: right } })
  const error = before.error ?? after.error
  const [base, head] = [before.data?.evaluation, after.data?.evaluation]
  return (
    <Page
      crumbs={[
        { label: 'Runs', to: places.evaluations() },
        {
          label:
            base && head
              ? `${base.application.revision_slug} beside ${head.application.revision_slug}`
              : 'Two runs side by side',
        },
      ]}
      wide
    >
      {error && <Failure error={error} />}
      {base && head ? <Compared left={base} right={head} /> : !error && <Skeleton label="Loading the runs" />}
    </Page>
  )
}

function Compared({ left, right }: { readonly left: Evaluation; readonly right: Evaluation }) {
  const { rows, judges, loaded, total, error } = useCompared(left, right)
  return (
    <>
      <CompareSummary left={left} right={right} judges={judges} rows={rows} />
      {error && <Failure error={error} />}
      {rows ? (
        <CompareRows left={left} right={right} judges={judges} rows={rows} />
      ) : (
        !error && <Progress label="Loading the rows of both" done={loaded} total={total} unit="rows" />
      )}
    </>
  )
}
