import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useRoute } from '../../api/use-route.ts'
import { Page } from '../../parts/page/page.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { Ago } from '../../parts/time/ago.tsx'
import { duration } from '../../parts/time/duration.ts'
import { hasFailed, type SpanTree, spanTree } from '../../parts/waterfall/span-tree.ts'
import { Waterfall } from '../../parts/waterfall/waterfall.tsx'
import { places } from '../../shell/places.ts'
import { SpanPanel } from './span-panel.tsx'
import { TraceActions } from './trace-actions.tsx'
import styles from './trace.module.css'

/** `/trace/<id>`: a waterfall of spans, and the picked one with what went in and what came out. */
export default function TracePage() {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string }
  const { data, error, refetch } = useRoute('GET /traces/{id}', { path: { id } }, { immutable: true })
  const tree = useMemo(() => data && spanTree(data.trace.spans), [data])
  const root = tree?.roots[0]
  return (
    <Page
      crumbs={[
        { label: 'Traces', to: places.traces() },
        { label: root ? root.span.span_name.slice(0, 120) : `Trace ${id.slice(0, 8)}` },
      ]}
      fills
      about={tree && <About tree={tree} />}
      actions={root && <TraceActions id={id} root={root.span} />}
    >
      {error && <Failure error={error} retry={refetch} />}
      {!error && !tree && <Skeleton label="Loading the trace" lines={12} />}
      {tree && <Spans id={id} tree={tree} />}
    </Page>
  )
}

function Spans({ id, tree }: { readonly id: string; readonly tree: SpanTree }) {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const navigate = useNavigate()
  const node = tree.nodes.get(search['span'] ?? '') ?? tree.roots[0]
  if (!node) return null
  const pick = (span: string): void =>
    void navigate({
      to: places.trace(id),
      search: { ...search, span } as never,
      replace: true,
      resetScroll: false,
    })
  return (
    <div className={styles.split}>
      <Waterfall tree={tree} picked={node.span.span_id} pick={pick} />
      <SpanPanel key={node.span.span_id} traceId={id} node={node} />
    </div>
  )
}

function About({ tree }: { readonly tree: SpanTree }) {
  const failed = [...tree.nodes.values()].filter(({ span }) => hasFailed(span)).length
  const root = tree.roots[0]
  return (
    <>
      {failed > 0 && (
        <span className={styles.failed}>
          ! {failed.toLocaleString()} {failed === 1 ? 'error' : 'errors'}
        </span>
      )}
      <span>
        {tree.nodes.size.toLocaleString()} {tree.nodes.size === 1 ? 'span' : 'spans'}
      </span>
      <span>{duration(tree.length / 1000)}</span>
      {root && <Ago date={root.span.start_time} />}
    </>
  )
}
