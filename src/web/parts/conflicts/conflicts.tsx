import { Check } from 'lucide-react'
import { Fragment, useEffect, useId, useRef, useState } from 'react'
import { useCommands } from '../../shell/commands.tsx'
import { Button } from '../button/button.tsx'
import { wordMarks } from '../diff/line-diff.ts'
import { LineText } from '../diff/lines.tsx'
import { visible } from '../text/text.tsx'
import {
  type Block,
  type Conflict,
  type Conflicted,
  type Decision,
  nameOfPlace,
  problemOf,
  textOfDecision,
} from './conflict-texts.ts'
import styles from './conflicts.module.css'
import type { Resolving } from './use-resolving.ts'

export interface ConflictsProps {
  readonly resolving: Resolving
  /** What the sides are called: the variant that is written to, and what is added. */
  readonly names: { readonly target: string; readonly source: string }
  /** A place in the words of the page; by default, those of prompts and testsets. */
  readonly nameOf?: (conflict: Conflict) => string
}

/** Conflicts drawn at once. */
const PAGE = 20

/**
 * Conflicts to decide one by one, or all at once, beside the text as it will be. `1`, `2` and `3` use the current, the incoming or both texts, `e`
 * edits, `n` and `p` step.
 */
export function Conflicts({ resolving, names, nameOf = nameOfPlace }: ConflictsProps) {
  const { blocks, conflicted, decisions, decide, decideRest, startOver, unlisted, rest, left } = resolving
  const [at, setAt] = useState(0)
  const [editing, setEditing] = useState<string>()
  const list = useRef<HTMLOListElement>(null)
  const current = Math.min(at, blocks.length - 1)
  const block = blocks[current]
  const first = current - (current % PAGE)
  const isMoved = useRef(false)
  const go = (to: number): void => {
    isMoved.current = true
    setEditing(undefined)
    setAt(Math.min(Math.max(to, 0), blocks.length - 1))
  }
  useEffect(() => {
    if (!isMoved.current || editing !== undefined) return
    isMoved.current = false
    list.current?.querySelector<HTMLElement>('[data-current]')?.focus()
  }, [current, editing])
  const take = (side: 'target' | 'source' | 'both'): void => {
    if (block && refusalOf(block, side) === undefined) decide(block, { take: side })
  }
  const edit = (it: Block): void => {
    if (refusalOf(it, 'edit') !== undefined) return
    if (!decisions.has(it.key) || textOfDecision(it, decisions.get(it.key)) === undefined) {
      decide(it, { text: it.sides.target ?? it.sides.source ?? '' })
    }
    setEditing(it.key)
  }
  useCommands(
    [
      { id: 'use current', title: 'Use current', keys: '1', run: () => take('target') },
      { id: 'use incoming', title: 'Use incoming', keys: '2', run: () => take('source') },
      { id: 'use both', title: 'Use both', keys: '3', run: () => take('both') },
      { id: 'edit conflict', title: 'Edit', keys: 'e', run: () => block && edit(block) },
      { id: 'next conflict', title: 'Next conflict', keys: 'n', run: () => go(current + 1) },
      { id: 'previous conflict', title: 'Previous conflict', keys: 'p', run: () => go(current - 1) },
    ].map((it) => ({ ...it, group: 'Conflicts' })),
  )
  if (!block) return null
  const total = unlisted === undefined || unlisted === 'more' ? blocks.length : blocks.length + unlisted
  const count = total.toLocaleString()
  const noneLeft = left === 0 ? 'Every conflict is decided.' : undefined
  return (
    <div>
      <div className={`row gap-below ${styles.bar}`}>
        <p role="status">
          {total === 1 ? '1 conflict' : `${count}${unlisted === 'more' ? ' or more' : ''} conflicts`},{' '}
          {left === 0 ? 'all decided' : `${left.toLocaleString()} left`}
        </p>
        <Button refusal={noneLeft} onClick={() => decideRest('target')}>
          Use current for all{decisions.size > 0 && ' others'}
        </Button>
        <Button refusal={noneLeft} onClick={() => decideRest('source')}>
          Use incoming for all{decisions.size > 0 && ' others'}
        </Button>
        {decisions.size > 0 && (
          <Button kind="quiet" onClick={startOver}>
            Start over
          </Button>
        )}
      </div>
      {unlisted !== undefined && (
        <p className="notice gap-below">
          The first {blocks.length.toLocaleString()} are listed.{' '}
          {rest === undefined
            ? `Use current or incoming for all others decides the ${unlisted === 'more' ? 'rest' : `other ${unlisted.toLocaleString()}`}, too.`
            : `All that are not listed use ${rest === 'target' ? 'current' : 'incoming'}.`}
        </p>
      )}
      <div className={styles.columns}>
        <div>
          <ol className="stack" ref={list} start={first + 1}>
            {blocks.slice(first, first + PAGE).map((it, index) => (
              <li key={it.key}>
                <BlockView
                  block={it}
                  label={`Conflict ${(first + index + 1).toLocaleString()} of ${count}: ${nameOf(it.conflict)}`}
                  name={nameOf(it.conflict)}
                  names={names}
                  isCurrent={first + index === current}
                  decision={decisions.get(it.key)}
                  typedBefore={decisions.has(it.key) ? undefined : resolving.typedBefore(it)}
                  decide={(decision) => decide(it, decision)}
                  isEditing={editing === it.key}
                  edit={() => edit(it)}
                  endEdit={() => {
                    isMoved.current = true
                    setEditing(undefined)
                  }}
                  choose={() => setAt(first + index)}
                />
              </li>
            ))}
          </ol>
          {blocks.length > PAGE && (
            <nav className={`between ${styles.pages}`} aria-label="Pages of conflicts">
              <Button
                refusal={first === 0 ? 'These are the first.' : undefined}
                onClick={() => go(first - PAGE)}
              >
                Previous {PAGE}
              </Button>
              <span>
                {(first + 1).toLocaleString()} to {Math.min(first + PAGE, blocks.length).toLocaleString()} of{' '}
                {count}
              </span>
              <Button
                refusal={first + PAGE >= blocks.length ? 'These are the last.' : undefined}
                onClick={() => go(first + PAGE)}
              >
                Next {PAGE}
              </Button>
            </nav>
          )}
        </div>
        <Result
          name={nameOf(block.conflict)}
          of={conflicted.find(({ conflict }) => conflict === block.conflict)}
          current={block}
          decisions={decisions}
        />
      </div>
    </div>
  )
}

/** Why a block cannot be decided so; undefined if it can. */
function refusalOf({ kind, sides }: Block, how: 'target' | 'source' | 'both' | 'edit'): string | undefined {
  if (how === 'target' || how === 'source') return undefined
  if (kind === 'order') return 'An order can only be taken from one side.'
  if (how === 'edit') return undefined
  if (kind === 'value') return 'These are values: use one, or edit.'
  return sides.target === undefined || sides.source === undefined ? 'One side removed it.' : undefined
}

const KINDS: Readonly<Record<Conflict['kind'], string>> = {
  both_changed: 'changed on both sides',
  changed_and_removed: 'changed on one side, removed on the other',
  both_added: 'added on both sides',
  order: 'moved on both sides',
}

interface BlockProps {
  readonly block: Block
  readonly label: string
  readonly name: string
  readonly names: ConflictsProps['names']
  readonly isCurrent: boolean
  readonly decision: Decision | undefined
  readonly typedBefore: string | undefined
  readonly decide: (decision: Decision) => void
  readonly isEditing: boolean
  readonly edit: () => void
  readonly endEdit: () => void
  readonly choose: () => void
}

const USES = [
  { take: 'target', label: 'Use current', keys: '1' },
  { take: 'source', label: 'Use incoming', keys: '2' },
  { take: 'both', label: 'Use both', keys: '3' },
] as const

function BlockView(props: BlockProps) {
  const {
    block,
    label,
    name,
    names,
    isCurrent,
    decision,
    typedBefore,
    decide,
    isEditing,
    edit,
    endEdit,
    choose,
  } = props
  const { sides, conflict } = block
  const taken = decision && 'take' in decision ? decision.take : undefined
  const problem = problemOf(block, decision)
  const isDecided = decision !== undefined && problem === undefined
  return (
    <section
      className={styles.block}
      aria-label={label}
      data-current={isCurrent || undefined}
      data-decided={isDecided || undefined}
      tabIndex={-1}
      onFocus={choose}
      onClick={choose}
    >
      <h3>
        <span dir="auto">{visible(name)}</span>
        <span className={styles.kind}>{KINDS[conflict.kind]}</span>
        {isDecided && (
          <span className={styles.decided}>
            <Check size={14} aria-hidden />
            {taken === undefined
              ? 'edited'
              : taken === 'both'
                ? 'both'
                : taken === 'target'
                  ? 'current'
                  : 'incoming'}
          </span>
        )}
      </h3>
      <div className={styles.sides}>
        <SideView
          title="Current"
          name={names.target}
          side="target"
          block={block}
          isTaken={taken === 'target' || taken === 'both'}
        />
        <SideView
          title="Incoming"
          name={names.source}
          side="source"
          block={block}
          isTaken={taken === 'source' || taken === 'both'}
        />
      </div>
      {block.kind !== 'order' || sides.base !== undefined ? (
        <details className={styles.original}>
          <summary>Original</summary>
          <SideView title="" name="" side="base" block={block} isTaken={false} />
        </details>
      ) : null}
      <div className={`row ${styles.uses}`}>
        {USES.map((use) => (
          <Button
            key={use.take}
            aria-pressed={taken === use.take}
            refusal={refusalOf(block, use.take)}
            onClick={() => decide({ take: use.take })}
          >
            {use.label}
            {isCurrent && <kbd aria-hidden>{use.keys}</kbd>}
          </Button>
        ))}
        <Button
          aria-pressed={decision !== undefined && 'text' in decision}
          refusal={refusalOf(block, 'edit')}
          onClick={edit}
        >
          Edit{isCurrent && <kbd aria-hidden>e</kbd>}
        </Button>
        {typedBefore !== undefined && (
          <Button kind="quiet" onClick={() => decide({ text: typedBefore })}>
            Use what I typed before this changed
          </Button>
        )}
      </div>
      {isEditing && (
        <EditField block={block} decision={decision} problem={problem} decide={decide} endEdit={endEdit} />
      )}
      {!isEditing && problem !== undefined && <p className="bad-small">{problem}</p>}
    </section>
  )
}

function EditField({
  block,
  decision,
  problem,
  decide,
  endEdit,
}: Pick<BlockProps, 'block' | 'decision' | 'decide' | 'endEdit'> & { readonly problem: string | undefined }) {
  const id = useId()
  const text = textOfDecision(block, decision) ?? ''
  return (
    <div className={styles.edit}>
      <label htmlFor={id}>{block.kind === 'value' ? 'Your value, as JSON' : 'Your text'}</label>
      <textarea
        id={id}
        className="control"
        dir="auto"
        autoFocus
        rows={Math.min(14, text.split('\n').length + Math.floor(text.length / 80) + 1)}
        value={text}
        data-ends-by-escape
        aria-invalid={problem === undefined ? undefined : true}
        onChange={(event) => decide({ text: event.target.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          // The dialog stays open.
          event.preventDefault()
          event.stopPropagation()
          endEdit()
        }}
      />
      {problem !== undefined && <p className="bad-small">{problem}</p>}
      <Button onClick={endEdit}>Done</Button>
    </div>
  )
}

interface SideProps {
  readonly title: string
  readonly name: string
  readonly side: 'base' | 'target' | 'source'
  readonly block: Block
  readonly isTaken: boolean
}

/** A side of a block, with its differences from the original marked. */
function SideView({ title, name, side, block, isTaken }: SideProps) {
  const { sides, around, kind } = block
  const text = sides[side]
  // Then keys can scroll it, too.
  const mayScroll = text !== undefined && (text.length > 300 || text.split('\n').length > 8)
  const marks =
    side === 'base' || text === undefined || sides.base === undefined
      ? undefined
      : wordMarks(sides.base, text)
  return (
    <div className={styles.side} data-taken={isTaken || undefined}>
      {title !== '' && (
        <h4>
          {title} <bdi>{name}</bdi>
        </h4>
      )}
      {text === undefined || text === '' ? (
        <p className="muted">
          {kind === 'order' ? 'its own order' : text === '' ? 'no text here' : 'removed'}
        </p>
      ) : (
        <div
          className={kind === 'text' ? styles.text : styles.code}
          dir="auto"
          {...(mayScroll && { tabIndex: 0, role: 'group', 'aria-label': title || 'Original' })}
        >
          {around && around.before !== '' && <span className="muted">… {visible(around.before)}</span>}
          <LineText
            side="head"
            parts={marks?.head ?? [{ text, isChanged: side !== 'base' && around !== undefined }]}
          />
          {around && around.after !== '' && <span className="muted">{visible(around.after)} …</span>}
        </div>
      )}
    </div>
  )
}

interface ResultProps {
  readonly name: string
  readonly of: Conflicted | undefined
  readonly current: Block
  readonly decisions: ReadonlyMap<string, Decision>
}

/** Longer stretches without a conflict are folded. */
const LONGEST_PLAIN = 700

/** The text of the current conflict as it will be, with what was decided marked. */
function Result({ name, of, current, decisions }: ResultProps) {
  const [isOpen, setOpen] = useState(false)
  if (!of) return null
  const isLong = of.parts.some((it) => typeof it === 'string' && it.length > LONGEST_PLAIN)
  return (
    <section className={styles.result} aria-label={`Result: ${name}`}>
      <h3>
        Result <span className={styles.kind}>{name}</span>
      </h3>
      <div
        className={styles[current.kind === 'text' ? 'text' : 'code']}
        dir="auto"
        tabIndex={0}
        role="group"
        aria-label="Text"
      >
        {of.parts.map((it, at) =>
          typeof it === 'string' ? (
            <Fragment key={at}>{visible(isOpen ? it : folded(it))}</Fragment>
          ) : (
            <Decided key={at} block={it} decision={decisions.get(it.key)} isCurrent={it === current} />
          ),
        )}
      </div>
      {isLong && (
        <button type="button" className="text-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'show less' : 'show the whole text'}
        </button>
      )}
    </section>
  )
}

function folded(text: string): string {
  if (text.length <= LONGEST_PLAIN) return text
  const half = LONGEST_PLAIN / 2
  return `${text.slice(0, half)}\n⋯ ${(text.length - 2 * half).toLocaleString()} characters ⋯\n${text.slice(-half)}`
}

function Decided({
  block,
  decision,
  isCurrent,
}: {
  readonly block: Block
  readonly decision: Decision | undefined
  readonly isCurrent: boolean
}) {
  if (!decision) {
    return (
      <mark className={styles.open} data-current={isCurrent || undefined}>
        to be decided
      </mark>
    )
  }
  const text = textOfDecision(block, decision)
  if (text === undefined || text === '') {
    return (
      <i className="muted">
        {text === ''
          ? ''
          : block.kind === 'order'
            ? `the order of ${'take' in decision && decision.take === 'target' ? 'current' : 'incoming'}`
            : 'removed'}
      </i>
    )
  }
  return (
    <ins className={styles.chosen} data-current={isCurrent || undefined}>
      {visible(text)}
    </ins>
  )
}

interface SaveMergedProps {
  readonly resolving: Resolving
  readonly busy: boolean
  readonly onSave: () => void
}

/** The button that saves the result; it says how many conflicts are left. */
export function SaveMerged({ resolving: { left }, busy, onSave }: SaveMergedProps) {
  const refusal =
    left === 0
      ? undefined
      : `${left === 1 ? '1 conflict is' : `${left.toLocaleString()} conflicts are`} left to decide.`
  useCommands([
    {
      id: 'save merged',
      title: 'Save merged version',
      keys: 'mod+enter',
      refusal,
      run: () => !busy && onSave(),
    },
  ])
  return (
    <Button kind="primary" needs="write" busy={busy} refusal={refusal} onClick={onSave}>
      Save merged version{left > 0 && ` (${left.toLocaleString()} left)`}
    </Button>
  )
}
