import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useCommands } from '../../shell/commands.tsx'
import { dataOf, nameOfRun, ranOf, type SpanTree, visibleNodes, hasFailed, type SpanNode } from './spans.ts'
import styles from './waterfall.module.css'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { duration } from '../time/time.tsx'

export interface WaterfallProps {
  readonly tree: SpanTree
  /** The id of the selected span. */
  readonly picked: string
  readonly pick: (spanId: string) => void
}

const ROW = 30

/** The spans of a trace as a tree, each with a bar for its time. Only visible rows are drawn; arrows, j and k move through them. */
export function Waterfall({ tree, picked, pick }: WaterfallProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const shown = useMemo(() => visibleNodes(tree.roots, closed), [tree, closed])
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  })
  const at = shown.findIndex(({ span }) => span.span_id === picked)
  const node = shown[at]
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at)
  }, [at, virtual])

  const go = (to: number): void => {
    const next = shown[Math.max(0, Math.min(shown.length - 1, to))]
    if (next) pick(next.span.span_id)
  }
  const toggle = (id: string): void =>
    setClosed((before) => {
      const after = new Set(before)
      if (!after.delete(id)) after.add(id)
      return after
    })
  const isClosed = closed.has(picked)
  const hasChildren = (node?.children.length ?? 0) > 0
  const moves: Readonly<Record<string, () => void>> = {
    ArrowDown: () => go(at + 1),
    ArrowUp: () => go(at - 1),
    Home: () => go(0),
    End: () => go(shown.length - 1),
    ArrowRight: () => (hasChildren && isClosed ? toggle(picked) : hasChildren && go(at + 1)),
    ArrowLeft: () =>
      hasChildren && !isClosed ? toggle(picked) : node?.parent && pick(node.parent.span.span_id),
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const move = moves[event.key]
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    move()
  }
  useCommands([
    { id: 'next', title: 'Next span', keys: 'j', run: () => go(at + 1) },
    { id: 'previous', title: 'The span before', keys: 'k', run: () => go(at - 1) },
  ])
  return (
    <div
      ref={scroller}
      role="tree"
      aria-label="Spans"
      tabIndex={0}
      aria-activedescendant={at < 0 ? undefined : `span-${picked}`}
      className={`card ${styles.waterfall}`}
      onKeyDown={onKeyDown}
    >
      <div role="none" className={styles.rows} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = shown[index]
          return row ? (
            <WaterfallRow
              key={row.span.span_id}
              node={row}
              length={tree.length}
              offset={start}
              isPicked={index === at}
              isClosed={closed.has(row.span.span_id)}
              pick={pick}
              toggle={toggle}
            />
          ) : null
        })}
      </div>
    </div>
  )
}

interface WaterfallRowProps {
  readonly node: SpanNode
  /** The duration of the trace, in microseconds. */
  readonly length: number
  /** The top of the row, in pixels. */
  readonly offset: number
  readonly isPicked: boolean
  readonly isClosed: boolean
  readonly pick: (spanId: string) => void
  readonly toggle: (spanId: string) => void
}

const INDENT = 14
/** Deeper levels are not indented further, to leave room for names. */
const DEEPEST = 12

/** A span: its name, and a bar for its time. */
function WaterfallRow({ node, length, offset, isPicked, isClosed, pick, toggle }: WaterfallRowProps) {
  const { span, level, parent, children, start, end } = node
  const { span_id: id, span_type: type } = span
  const [name, kind] =
    ranOf(span) && dataOf(span).evaluationId === undefined
      ? [nameOfRun(span), span.span_name]
      : [span.span_name, type]
  const siblings = parent?.children
  const Chevron = isClosed ? ChevronRight : ChevronDown
  return (
    <div
      id={`span-${id}`}
      role="treeitem"
      aria-level={level}
      aria-selected={isPicked}
      aria-expanded={children.length > 0 ? !isClosed : undefined}
      aria-setsize={siblings?.length}
      aria-posinset={siblings && siblings.indexOf(node) + 1}
      className={styles.row}
      style={{ transform: `translateY(${offset}px)` }}
      onClick={() => pick(id)}
    >
      <span className={styles.name} style={{ paddingInlineStart: INDENT * Math.min(level - 1, DEEPEST) }}>
        <span
          aria-hidden
          className={styles.toggle}
          onClick={(event) => {
            if (children.length === 0) return
            event.stopPropagation()
            toggle(id)
          }}
        >
          {children.length > 0 && <Chevron size={14} />}
        </span>
        <span className={hasFailed(span) ? 'clip bad' : 'clip'} title={name}>
          {hasFailed(span) && <b>! </b>}
          <bdi>{name.slice(0, MOST)}</bdi>
        </span>
        <span className={styles.type}>{kind}</span>
      </span>
      <span className={styles.time}>
        <span className={styles.track} aria-hidden>
          <span
            className={styles.bar}
            data-failed={hasFailed(span) || undefined}
            data-type={type}
            style={{
              insetInlineStart: `${(100 * start) / length}%`,
              width: `max(2px, ${(100 * (end - start)) / length}%)`,
            }}
          />
        </span>
        <span className={styles.duration}>{duration((end - start) / 1000)}</span>
      </span>
    </div>
  )
}

/** Longer names are cut; the selected span shows all of it. */
const MOST = 120
