import { useSearch } from '@tanstack/react-router'
import { Fold } from '../../parts/fold/fold.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { LinkTabs } from '../../parts/tabs/link-tabs.tsx'
import { duration } from '../../parts/time/duration.ts'
import { hasFailed, type SpanNode } from '../../parts/waterfall/span-tree.ts'
import { places } from '../../shell/places.ts'
import { dataOf } from '../../parts/waterfall/span-data.ts'
import { SpanLinks } from './span-links.tsx'
import { SpanValue } from './span-value.tsx'
import styles from './trace.module.css'

/** The picked span: what it ran, what went in, what came out, and all of it as JSON. */
export function SpanPanel({ traceId, node }: { readonly traceId: string; readonly node: SpanNode }) {
  const { view } = useSearch({ strict: false }) as { readonly view?: string }
  const { span, start, end } = node
  const { span_id: id, span_name: name, span_type: type } = span
  const { tokens, inputs, outputs, parameters } = dataOf(span)
  const isRaw = view === 'json'
  return (
    <section className={styles.panel} aria-label="The picked span" tabIndex={0}>
      <h2>
        <Fold text={name} lines={2} />
      </h2>
      <p className={styles.facts}>
        <span className={hasFailed(span) ? styles.failed : styles.ok}>
          {hasFailed(span) ? '! failed' : '✓ succeeded'}
        </span>
        <span>{type}</span>
        {start > 0 && <span title="from the beginning of the trace">after {duration(start / 1000)}</span>}
        <span>took {duration((end - start) / 1000)}</span>
        {tokens && (
          <span title={`${tokens.prompt} in, ${tokens.completion} out`}>
            {tokens.total.toLocaleString()} tokens ({tokens.prompt.toLocaleString()} in,{' '}
            {tokens.completion.toLocaleString()} out)
          </span>
        )}
      </p>
      <SpanLinks node={node} />
      {span.status_message !== undefined && (
        <div className={styles.error} role="group" aria-label="Why it failed">
          <Fold text={span.status_message} />
        </div>
      )}
      <LinkTabs
        label="How the span is shown"
        tabs={[
          { label: 'Inputs and outputs', to: places.trace(traceId), search: { span: id }, isHere: !isRaw },
          { label: 'JSON', to: places.trace(traceId), search: { span: id, view: 'json' }, isHere: isRaw },
        ]}
      />
      {isRaw ? (
        <JsonView value={withoutChildren(span)} />
      ) : (
        <>
          <SpanValue title="Inputs" value={unwrapped(inputs)} />
          <SpanValue title="Outputs" value={outputs} />
          <SpanValue title="Parameters" value={parameters} folded />
          {span.exception !== undefined && <SpanValue title="Exception" value={span.exception} />}
        </>
      )}
    </section>
  )
}

/** The spans below have rows of their own. */
function withoutChildren({ spans: _, ...span }: SpanNode['span']): object {
  return span
}

/** Inputs that are nothing but a run's inputs are shown without the words around them. */
function unwrapped(inputs: unknown): unknown {
  const { inputs: only, ...rest } = (inputs ?? {}) as Readonly<Record<string, unknown>>
  return only !== undefined && Object.keys(rest).every((name) => name === 'testcase') ? only : inputs
}
