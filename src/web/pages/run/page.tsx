import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useRouteText } from '../../api/use-route.ts'
import { textAt } from '../../parts/json-text/json-text.ts'
import { Page } from '../../parts/page/page.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { NewsLine } from '../../shell/news-line.tsx'
import { places } from '../../shell/places.ts'
import type { RunSearch } from './inputs-section.tsx'
import { type Runnable, RunView } from './run-view.tsx'

/** `/a/<slug>/run`: one revision, run with inputs that are typed, of a row, or of a trace. */
export default function RunRevisionPage() {
  const { slug = '' } = useParams({ strict: false })
  const search = useSearch({ strict: false }) as RunSearch
  const navigate = useNavigate()
  const { variant, version } = search
  const answer = useRouteText('POST /workflows/revisions/retrieve', {
    body: {
      workflow_ref: { slug },
      ...(variant === undefined ? {} : { workflow_variant_ref: { slug: variant } }),
      ...(version === undefined ? {} : { workflow_revision_ref: { version } }),
    },
  })
  const found = answer.data === undefined ? undefined : runnableIn(answer.data)
  if (found && !answer.error)
    return (
      <RunView
        key={slug}
        slug={slug}
        search={search}
        runnable={found}
        go={(change) =>
          void navigate({ to: places.run(slug), search: { ...search, ...change }, replace: true })
        }
        news={
          <NewsLine
            concerns={({ kind, references }) =>
              kind === 'revision' && references['workflow_variant']?.id === found.variantId
            }
          />
        }
      />
    )
  return (
    <Page crumbs={[{ label: slug, to: places.artifact(slug) }, { label: 'Run' }]}>
      {answer.error ? (
        <Failure error={answer.error} retry={answer.refetch} />
      ) : (
        <Skeleton label={`Loading ${slug}`} lines={8} />
      )}
    </Page>
  )
}

/** What a run needs of the answer to a retrieve. */
function runnableIn(answer: string): Runnable {
  const { workflow_revision: revision } = JSON.parse(answer) as {
    readonly workflow_revision: {
      readonly id: string
      readonly version: number | string
      readonly variant_id: string
      readonly variant_slug: string
      readonly flags: { readonly is_evaluator?: boolean }
    }
  }
  return {
    revisionId: revision.id,
    version: Number(revision.version),
    variant: revision.variant_slug,
    variantId: revision.variant_id,
    isEvaluator: revision.flags.is_evaluator === true,
    data: textAt(answer, ['workflow_revision', 'data']) ?? '{}',
  }
}
