import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { Button } from '../../parts/button/button.tsx'
import { Copyable } from '../../parts/copy/copyable.tsx'
import { LineText } from '../../parts/diff/lines.tsx'
import { wordMarks } from '../../parts/diff/line-diff.ts'
import { JsonView } from '../../parts/json/json-view.tsx'
import styles from './page.module.css'

type Merge = Answer<'POST /workflows/variants/merge'>['merge']
type Conflict = Merge['conflicts'][number]

const WORDS: Readonly<Record<Conflict['kind'], string>> = {
  both_changed: 'both changed it, differently',
  changed_and_removed: 'one changed it, the other removed it',
  both_added: 'both added it, differently',
  order: 'both moved it, to different places',
}

const PAGE = 20

/** Where a merge needs somebody who decides: what was there, what the target has, what the source has; and how it is done in a terminal. */
export function Conflicts({
  merge: { conflicts },
  sides,
  targetRevision,
  takeAll,
}: {
  readonly merge: Merge
  readonly sides: object
  readonly targetRevision: string
  /** Asks to merge with one side of all of them. */
  readonly takeAll: (side: 'target' | 'source') => void
}) {
  const [shown, setShown] = useState(PAGE)
  return (
    <>
      <ol className={styles.conflicts}>
        {conflicts.slice(0, shown).map((conflict, at) => (
          <li key={at}>
            <ConflictBlock conflict={conflict} />
          </li>
        ))}
      </ol>
      {conflicts.length > shown && (
        <button type="button" className={styles.more} onClick={() => setShown(shown + PAGE)}>
          {(conflicts.length - shown).toLocaleString()} more conflicts
        </button>
      )}
      <div className={styles.takeAll}>
        <Button needs="write" onClick={() => takeAll('target')}>
          Use current for all
        </Button>
        <Button needs="write" onClick={() => takeAll('source')}>
          Use incoming for all
        </Button>
      </div>
      <p>
        Or decide each of them with <code>target</code>, <code>source</code>, <code>base</code> or a value of
        your own, and merge:
      </p>
      <Copyable
        label="Command that merges with resolutions"
        text={commandOf(conflicts, sides, targetRevision)}
      />
    </>
  )
}

function ConflictBlock({ conflict }: { readonly conflict: Conflict }) {
  const { place, kind, base, target, source, marked } = conflict
  const regions = marked === undefined ? [] : regionsOf(marked)
  return (
    <section className={styles.conflict} aria-label={`Conflict at ${placeText(place)}`}>
      <h3>
        <code dir="auto">{placeText(place)}</code> <span>{WORDS[kind]}</span>
      </h3>
      {regions.slice(0, PAGE).map((region, at) => (
        <div key={at} className={styles.values}>
          {SIDES.map((side) => (
            <SideText key={side} side={side} region={region} />
          ))}
        </div>
      ))}
      {regions.length === 0 && (
        <div className={styles.values}>
          <SideValue name={NAMES.base} value={base} />
          <SideValue name={NAMES.target} value={target} />
          <SideValue name={NAMES.source} value={source} />
        </div>
      )}
    </section>
  )
}

const SIDES = ['base', 'target', 'source'] as const
const NAMES = { base: 'Original', target: 'Current', source: 'Incoming' } as const

/** The lines of one side, with what differs from the lines that both began with marked. */
function SideText({ side, region }: { readonly side: (typeof SIDES)[number]; readonly region: Region }) {
  const text = region[side]
  const marks = side === 'base' ? undefined : wordMarks(region.base, text)
  return (
    <div>
      <h4>{NAMES[side]}</h4>
      {text === '' ? (
        <p className={styles.none}>nothing</p>
      ) : (
        <div className={styles.text} dir="auto">
          <LineText side="head" parts={marks?.head ?? [{ text, isChanged: false }]} />
        </div>
      )}
    </div>
  )
}

function SideValue({ name, value }: { readonly name: string; readonly value: unknown }) {
  return (
    <div>
      <h4>{name}</h4>
      {value === undefined ? <p className={styles.none}>nothing</p> : <JsonView value={value} depth={1} />}
    </div>
  )
}

function placeText(place: Conflict['place']): string {
  return typeof place === 'string' ? place : JSON.stringify(place)
}

/** The request with the source's side of each conflict, for whoever copies it to change. */
function commandOf(conflicts: readonly Conflict[], sides: object, targetRevision: string): string {
  const resolutions = conflicts.slice(0, PAGE).map(({ place, in: where }) => ({
    place,
    ...(where === undefined ? {} : { in: where }),
    take: 'source',
  }))
  const body = JSON.stringify({ ...sides, expected_target: targetRevision, resolutions }).replaceAll(
    "'",
    "'\\''",
  )
  return `curl "$BRANCHPOINT_URL/workflows/variants/merge" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -H 'Content-Type: application/json' -d '${body}'`
}

/** Lines that three sides of a merge have at one place. */
interface Region {
  readonly target: string
  readonly base: string
  readonly source: string
}

const MARKS = ['<<<<<<<', '|||||||', '=======', '>>>>>>>'] as const

/** The places of a text at which a merge met a conflict, of its lines with the marks that git sets (`diff3`). */
function regionsOf(marked: string): readonly Region[] {
  const regions: Region[] = []
  let sides: [target: string[], base: string[], source: string[]] = [[], [], []]
  let side = -1
  for (const line of marked.split('\n')) {
    // A mark counts only where it comes in its turn: texts may hold such lines themselves.
    const next = MARKS[side + 1]
    if (next === undefined || !(line === next || line.startsWith(`${next} `))) {
      sides[side]?.push(line)
      continue
    }
    side++
    if (side < sides.length) continue
    const [target, base, source] = sides.map((lines) => lines.join('\n'))
    regions.push({ target: target ?? '', base: base ?? '', source: source ?? '' })
    sides = [[], [], []]
    side = -1
  }
  return regions
}
