import { ChevronDown, ChevronRight } from 'lucide-react'
import { duration } from '../time/duration.ts'
import { hasFailed, type SpanNode } from './span-tree.ts'
import styles from './waterfall.module.css'

export interface WaterfallRowProps {
  readonly node: SpanNode
  /** Of the whole trace, in microseconds. */
  readonly length: number
  /** Where the row stands, in pixels. */
  readonly offset: number
  readonly isPicked: boolean
  readonly isClosed: boolean
  readonly pick: (spanId: string) => void
  readonly toggle: (spanId: string) => void
}

const INDENT = 14
/** Deeper ones are not set in further: names would have no room. */
const DEEPEST = 12

/** A span: its name, and a bar where it lies in time. */
export function WaterfallRow({ node, length, offset, isPicked, isClosed, pick, toggle }: WaterfallRowProps) {
  const { span, level, parent, children, start, end } = node
  const { span_id: id, span_name: name, span_type: type } = span
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
        <span className={hasFailed(span) ? styles.failed : styles.label} title={name}>
          {hasFailed(span) && <b>! </b>}
          <bdi>{name.slice(0, MOST)}</bdi>
        </span>
        <span className={styles.type}>{type}</span>
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

/** A name is cut in a row; the picked span shows it whole. */
const MOST = 120
