import { type CSSProperties, type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react'
import type { GridPlace } from './geometry.ts'
import styles from './grid.module.css'

interface TypingRoom {
  readonly start: number
  readonly top: number
  /** The width of the cell. */
  readonly width: number
  readonly view: number
}

/** The place of the field over a cell: as wide as its text needs, inside of the view. */
export function typingPlace({ start, top, width, view }: TypingRoom): CSSProperties {
  const room = view - start - 4
  return {
    insetInlineStart: start,
    top,
    minWidth: Math.min(width, Math.max(room, 80)),
    maxWidth: Math.max(room, 80),
  }
}

interface TypingAsked {
  /** How the text of a cell is read and taken; undefined if cells are not edited. */
  readonly editing:
    | {
        readonly textOf: (place: GridPlace, isReplaced: boolean) => string | undefined
        readonly enter: (place: GridPlace, text: string) => void
      }
    | undefined
  readonly active: GridPlace
  readonly columns: number
  readonly onActive: (place: GridPlace) => void
  readonly onOpen: (place: GridPlace) => void
  readonly focus: () => void
}

/** The text that is typed into the focused cell. Typing replaces what the cell holds; F2, Enter and a double click change it. */
export function useTyping({ editing, active, columns, onActive, onOpen, focus }: TypingAsked) {
  const [typing, setTyping] = useState<TypingBegun>()
  /** Where Enter goes to after a row was typed with Tab: the column that it began in. */
  const run = useRef<{ readonly from: number; readonly at: GridPlace }>(undefined)

  function begin(place: GridPlace, typed?: string): void {
    const text = place.column === 0 ? undefined : editing?.textOf(place, typed !== undefined)
    if (text === undefined) return onOpen(place)
    if (place !== active) onActive(place)
    setTyping({ text: typed ?? text, before: text, isReplacing: typed !== undefined })
  }

  /** Ends the typing; `text` undefined: it is given up. */
  function finish(text: string | undefined, end: TypingEnd): void {
    setTyping(undefined)
    if (text !== undefined && (text !== typing?.before || typing.isReplacing)) editing?.enter(active, text)
    if (end !== 'left') focus()
    const { at, from: begunIn } = run.current ?? {}
    const from = at?.row === active.row && at.column === active.column ? (begunIn ?? 0) : active.column
    const step = MOVES[end]
    if (!step) return
    // Tab behind the last column begins the next row, where the row that is left began.
    const isNextRow = end === 'Enter' || (end === 'Tab' && active.column === columns)
    const to = {
      row: active.row + (isNextRow ? 1 : step.down),
      column: isNextRow ? from : Math.min(Math.max(active.column + step.right, 1), columns),
    }
    run.current = end === 'Tab' ? { from, at: to } : undefined
    onActive({ row: Math.max(0, to.row), column: to.column })
  }

  /** Begins to type with a key, or goes on in a row that is typed with Tab; whether it took the key. */
  function onTypingKey(event: KeyboardEvent): boolean {
    if (!editing) return false
    if (event.key === 'Tab') {
      const { current } = run
      if (!current || current.at.row !== active.row || current.at.column !== active.column || event.shiftKey)
        return false
      finish(undefined, 'Tab')
      return true
    }
    if (event.key.length !== 1 || event.ctrlKey || event.metaKey) return false
    begin(active, event.key)
    return true
  }

  return { typing, begin, finish, onTypingKey }
}

/** A text that is being typed into a cell. */
interface TypingBegun {
  readonly text: string
  /** What the cell holds. */
  readonly before: string
  /** Whether it replaces what the cell holds: then arrow keys end it, too. */
  readonly isReplacing: boolean
}

/** How typing ends: the key, or the focus went elsewhere. */
type TypingEnd =
  'Enter' | 'Tab' | 'Back' | 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight' | 'Escape' | 'Save' | 'left'

/** Where the focus goes then. */
const MOVES: Readonly<Partial<Record<TypingEnd, { readonly down: number; readonly right: number }>>> = {
  Enter: { down: 1, right: 0 },
  ArrowDown: { down: 1, right: 0 },
  ArrowUp: { down: -1, right: 0 },
  Tab: { down: 0, right: 1 },
  ArrowRight: { down: 0, right: 1 },
  Back: { down: 0, right: -1 },
  ArrowLeft: { down: 0, right: -1 },
}

interface CellInputProps {
  readonly label: string
  readonly begun: TypingBegun
  /** Called once, with the text; undefined if it is given up. */
  readonly finish: (text: string | undefined, end: TypingEnd) => void
  readonly style: CSSProperties
}

/** The field over a cell that is edited. Enter and Tab take the text, Escape gives it up, Alt+Enter begins a line. */
export function CellInput({ label, begun, finish, style }: CellInputProps) {
  const [text, setText] = useState(begun.text)
  const field = useRef<HTMLTextAreaElement>(null)
  const isOver = useRef(false)
  useLayoutEffect(() => {
    field.current?.focus({ preventScroll: true })
    field.current?.setSelectionRange(begun.text.length, begun.text.length)
  }, [])
  useLayoutEffect(() => {
    const { current } = field
    if (!current) return
    current.style.width = current.style.height = '0'
    current.style.width = `${current.scrollWidth + 4}px`
    current.style.height = `${current.scrollHeight}px`
  }, [text])

  function end(how: TypingEnd): void {
    if (isOver.current) return
    isOver.current = true
    finish(how === 'Escape' ? undefined : text, how)
  }

  function onKeyDown(event: KeyboardEvent): void {
    const { key, nativeEvent } = event
    event.stopPropagation()
    if (nativeEvent.isComposing) return
    if (key === 's' && (event.ctrlKey || event.metaKey)) {
      // The page saves what is typed here, too: it gets the key once the cell has the text.
      event.preventDefault()
      end('Save')
      setTimeout(() => window.dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey: true })))
      return
    }
    if (key === 'Enter' && (event.altKey || event.shiftKey)) {
      event.preventDefault()
      return (
        field.current?.setRangeText('\n', field.current.selectionStart, field.current.selectionEnd, 'end'),
        setText(field.current?.value ?? text)
      )
    }
    const how = key === 'Tab' && event.shiftKey ? 'Back' : key
    const isArrow = key.startsWith('Arrow')
    if (!isArrow && !(how in MOVES) && how !== 'Escape') return
    if (isArrow && !begun.isReplacing) return
    event.preventDefault()
    end(how as TypingEnd)
  }

  return (
    <textarea
      ref={field}
      className={styles.input}
      style={style}
      aria-label={label === '' ? 'Cell' : `Cell of ${label.slice(0, 100)}`}
      dir="auto"
      rows={1}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={() => end('left')}
    />
  )
}
