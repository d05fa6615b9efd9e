import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useCommands } from '../../shell/commands.tsx'
import { type SpanTree, visibleNodes } from './span-tree.ts'
import { WaterfallRow } from './waterfall-row.tsx'
import styles from './waterfall.module.css'

export interface WaterfallProps {
  readonly tree: SpanTree
  /** The id of the picked span. */
  readonly picked: string
  readonly pick: (spanId: string) => void
}

const ROW = 30

/** The spans of a trace as a tree, each with a bar where it lies in time. Only those that are seen are drawn; arrows and j, k go through them. */
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
      className={styles.waterfall}
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
