import { ChevronDown, ChevronUp } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { useCommands } from '../../shell/commands.tsx'
import { Toggles } from '../tabs/tabs.tsx'
import styles from './diff.module.css'
import { chooseDiffLayout, useDiffLayout, SHOW_EVENT } from './lines.tsx'

export interface DiffFrameProps {
  /** The counts of changes, in words. */
  readonly summary: ReactNode
  /** Other views, shown before the layout buttons. */
  readonly views?: ReactNode
  /** False if there is only one layout. */
  readonly hasLayout?: boolean
  readonly children: ReactNode
}

const LAYOUTS = [
  { value: 'split', label: 'Side by side' },
  { value: 'unified', label: 'Unified' },
] as const

/** The frame of a comparison: counts, layout buttons, and `n` and `p` to step through the changes. */
export function DiffFrame({ summary, views, hasLayout = true, children }: DiffFrameProps) {
  const content = useRef<HTMLDivElement>(null)
  const [where, setWhere] = useState('')
  const layout = useDiffLayout()
  const step = (by: 1 | -1): void => {
    if (content.current) setWhere(stepTo(content.current, by))
  }
  useCommands([
    { id: 'next change', title: 'Next change', keys: 'n', run: () => step(1) },
    { id: 'previous change', title: 'Previous change', keys: 'p', run: () => step(-1) },
    {
      id: 'diff layout',
      title: layout === 'split' ? 'Show changes unified' : 'Show changes side by side',
      run: () => chooseDiffLayout(layout === 'split' ? 'unified' : 'split'),
    },
  ])
  return (
    <section aria-label="What changed">
      <div className={styles.bar}>
        <div className={styles.summary}>{summary}</div>
        {views}
        {hasLayout && (
          <Toggles label="Layout of changes" choices={LAYOUTS} value={layout} onChange={chooseDiffLayout} />
        )}
        <div className={styles.steps}>
          <button
            type="button"
            aria-label="Previous change"
            title="Previous change (p)"
            onClick={() => step(-1)}
          >
            <ChevronUp size={16} aria-hidden />
          </button>
          <span role="status">{where}</span>
          <button type="button" aria-label="Next change" title="Next change (n)" onClick={() => step(1)}>
            <ChevronDown size={16} aria-hidden />
          </button>
        </div>
      </div>
      <div ref={content} className={styles.content}>
        {children}
      </div>
    </section>
  )
}

const STOPS = '[data-change], [data-unseen]:not([data-unseen="0"])'

/** Goes to the next or previous change; returns its number and the total. */
function stepTo(content: HTMLElement, by: 1 | -1): string {
  const before = stopsIn(content)
  const current = before.findIndex(({ dataset }) => 'current' in dataset)
  const wanted = current === -1 ? (by === 1 ? 0 : before.length - 1) : current + by
  const stop = before[Math.min(Math.max(wanted, 0), before.length - 1)]
  if (!stop) return 'No changes'
  // Blocks outside of the view are not drawn; their changes become stops when they are.
  if ('unseen' in stop.dataset) stop.dispatchEvent(new Event(SHOW_EVENT))
  const inside = 'change' in stop.dataset ? [] : stopsIn(stop)
  const target = inside.at(by === 1 ? 0 : -1) ?? stop
  before[current]?.removeAttribute('data-current')
  target.setAttribute('data-current', '')
  target.scrollIntoView({ block: 'center' })
  const weights = stopsIn(content).map((it) => Number(it.dataset['unseen'] ?? 1))
  const at = stopsIn(content).indexOf(target)
  return `${sum(weights.slice(0, at)) + 1} of ${sum(weights)}`
}

function stopsIn(element: HTMLElement): readonly HTMLElement[] {
  return [...element.querySelectorAll<HTMLElement>(STOPS)]
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, it) => all + it, 0)
}
