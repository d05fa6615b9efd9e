import { type PointerEvent, memo } from 'react'
import type { Edges } from './column-layout.ts'
import styles from './grid.module.css'

export interface GridHeaderProps {
  readonly keyName: string
  readonly columns: readonly string[]
  readonly from: number
  readonly to: number
  readonly edges: Edges
  readonly frozen: { readonly number: number; readonly key: number }
  /** Told a column's new width, in px, while its edge is dragged. */
  readonly resize: (column: string, width: number) => void
}

/** The names of the columns that are seen. Their edges can be dragged; keys do the same (`<` and `>`). */
export const GridHeader = memo(function GridHeader({
  keyName,
  columns,
  from,
  to,
  edges,
  frozen,
  resize,
}: GridHeaderProps) {
  return (
    <div role="row" aria-rowindex={1} className={styles.header}>
      <div role="columnheader" aria-colindex={1} className={styles.number} style={{ width: frozen.number }}>
        <span aria-hidden>#</span>
        <span className="visually-hidden">Row</span>
      </div>
      <div
        role="columnheader"
        aria-colindex={2}
        className={styles.key}
        style={{ width: frozen.key, insetInlineStart: frozen.number }}
        title={keyName}
      >
        {keyName}
        <Edge width={frozen.key} resize={(width) => resize(keyName, width)} />
      </div>
      <div className={styles.slide}>
        {columns.slice(from, to).map((name, step) => {
          const left = edges[from + step] ?? 0
          const width = (edges[from + step + 1] ?? left) - left
          return (
            <div
              key={from + step}
              role="columnheader"
              aria-colindex={from + step + 3}
              className={styles.cell}
              style={{ insetInlineStart: left, width }}
              title={name.slice(0, 500)}
            >
              {name === '' ? <i>no name</i> : <bdi>{name.slice(0, 120)}</bdi>}
              <Edge width={width} resize={(wanted) => resize(name, wanted)} />
            </div>
          )
        })}
      </div>
    </div>
  )
})

function Edge({ width, resize }: { readonly width: number; readonly resize: (width: number) => void }) {
  function drag(event: PointerEvent<HTMLSpanElement>): void {
    event.preventDefault()
    const edge = event.currentTarget
    const start = event.clientX
    edge.setPointerCapture(event.pointerId)
    const move = ({ clientX }: globalThis.PointerEvent): void => resize(width + clientX - start)
    edge.addEventListener('pointermove', move)
    edge.addEventListener('lostpointercapture', () => edge.removeEventListener('pointermove', move), {
      once: true,
    })
  }
  return <span aria-hidden className={styles.edge} onPointerDown={drag} />
}
