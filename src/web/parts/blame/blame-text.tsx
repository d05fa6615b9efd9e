import type { Answer } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'
import { visible } from '../text/text.tsx'
import { authorName } from '../chips/chips.tsx'
import { useSeen } from '../seen/use-seen.ts'
import { Failure, Skeleton } from '../states/states.tsx'
import { Ago } from '../time/time.tsx'
import styles from './blame-text.module.css'

export type BlamedLine = Answer<'GET /workflows/revisions/{id}/blame'>['lines'][number]

export interface BlameTextProps {
  /** The revision of the text. */
  readonly revisionId: string
  /** The JSON Pointer of the text in the revision's `data`. */
  readonly place: string
  readonly label: string
  /** Called with a clicked line. */
  readonly onLine: (line: BlamedLine) => void
}

/** The blame of a text, loaded when it becomes visible, since it may be slow. */
export function BlameText({ revisionId, place, label, onLine }: BlameTextProps) {
  const { ref, isSeen } = useSeen<HTMLDivElement>()
  const { data, error } = useRoute(
    'GET /workflows/revisions/{id}/blame',
    { path: { id: revisionId }, query: { place } },
    { enabled: isSeen, immutable: true },
  )
  return (
    <div ref={ref} role="group" aria-label={label} className={`card ${styles.blame}`}>
      {error && <Failure error={error} />}
      {!data && !error && <Skeleton label={`Looking up who wrote ${label}`} lines={3} />}
      {data && <Lines lines={data.lines} onLine={onLine} />}
      {data?.truncated && (
        <p className={styles.note}>Only the first {data.count.toLocaleString()} lines are shown.</p>
      )}
    </div>
  )
}

interface LinesProps {
  readonly lines: readonly BlamedLine[]
  readonly onLine: (line: BlamedLine) => void
}

function Lines({ lines, onLine }: LinesProps) {
  const times = lines.map(({ date }) => Date.parse(date))
  const oldest = times.reduce((least, time) => Math.min(least, time), Infinity)
  const newest = times.reduce((most, time) => Math.max(most, time), -Infinity)
  return (
    <ol>
      {lines.map((line, at) => {
        const isFirst = lines[at - 1]?.commit !== line.commit
        const age = newest === oldest ? 1 : (Date.parse(line.date) - oldest) / (newest - oldest)
        return (
          <li
            key={line.line}
            data-first={isFirst || undefined}
            style={{ '--age': `${Math.round(15 + 85 * age)}%` } as never}
          >
            {isFirst ? <Gutter line={line} press={() => onLine(line)} /> : <span className={styles.gutter} />}
            <code
              className={styles.text}
              dir="auto"
              onClick={() => getSelection()?.isCollapsed !== false && onLine(line)}
            >
              {visible(line.text.length > LONGEST ? `${line.text.slice(0, LONGEST)}…` : line.text) || ' '}
            </code>
          </li>
        )
      })}
    </ol>
  )
}

/** Longer lines are cut; the content and the files have all of it. */
const LONGEST = 4000

function Gutter({
  line: { revision, author, date, subject },
  press,
}: {
  readonly line: BlamedLine
  readonly press: () => void
}) {
  const version = revision ? `v${revision.version}` : '–'
  return (
    <button type="button" className={styles.gutter} title={subject.slice(0, 300)} onClick={press}>
      <b>{version}</b>
      <span className="clip">
        <span className="visually-hidden">by </span>
        {authorName(author)}
      </span>
      <span className={styles.when}>
        <Ago date={date} />
      </span>
      <span className="visually-hidden">: {subject.slice(0, 100)}</span>
    </button>
  )
}
