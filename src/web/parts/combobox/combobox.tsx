import { useEffect, useId, useState } from 'react'
import styles from './combobox.module.css'

/** An option of a combobox. */
export interface ComboboxOption {
  readonly value: string
  readonly label: string
  /** A dimmed note after the label. */
  readonly note?: string | undefined
}

export interface ComboboxProps {
  readonly label: string
  /** The selected value, as the field shows it; '' for none. */
  readonly shown: string
  /** The options found. */
  readonly found: readonly ComboboxOption[]
  /** The text shown if nothing was found. */
  readonly none: string
  /** Called with what is typed, and with undefined when the list closes. */
  readonly onWords: (words: string | undefined) => void
  /** Called with the selected value. */
  readonly choose: (value: string) => void
  /** Selects nothing; left out if a value is required. */
  readonly clear?: () => void
  /** Loads more options; left out if all are there. */
  readonly more?: (() => void) | undefined
  readonly hint?: string | undefined
  readonly placeholder?: string | undefined
  readonly autoFocus?: boolean
}

/** A field that searches while the user types, and selects one of the results (arrows, Enter, Escape). */
export function Combobox(props: ComboboxProps) {
  const {
    label,
    shown,
    found,
    none,
    onWords,
    choose,
    clear,
    more,
    hint,
    placeholder,
    autoFocus = false,
  } = props
  const id = useId()
  /** Undefined while nothing is typed: the list may be open all the same. */
  const [typed, setTyped] = useState<string>()
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  useEffect(() => document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' }), [id, at])
  const open = (words: string | undefined): void => {
    setOpen(true)
    setTyped(words)
    onWords(words ?? '')
    setAt(words === undefined ? -1 : 0)
  }
  const close = (): void => {
    setOpen(false)
    setTyped(undefined)
    onWords(undefined)
  }
  const pick = (value: string): void => {
    close()
    choose(value)
  }
  /** Typing the exact name of an option selects it; emptying the field selects nothing. */
  const settle = (): void => {
    const exact = typed === undefined ? undefined : found.find(({ value }) => value === typed.trim())
    close()
    if (exact) choose(exact.value)
    else if (typed?.trim() === '') clear?.()
  }
  function onKeyDown(event: React.KeyboardEvent): void {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (!isOpen) open(undefined)
      else setAt(Math.max(0, Math.min(found.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1))))
    } else if (event.key === 'Enter' && isOpen) {
      event.preventDefault()
      const picked = found[at]
      if (typed?.trim() === '' && clear) settle()
      else if (picked) pick(picked.value)
    } else if (event.key === 'Escape' && isOpen) {
      // Closes the list only, not the dialog around it.
      event.stopPropagation()
      event.nativeEvent.stopImmediatePropagation()
      close()
    }
  }
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="control"
        role="combobox"
        dir="auto"
        autoComplete="off"
        spellCheck={false}
        autoFocus={autoFocus}
        placeholder={placeholder}
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && found[at] ? `${id}-${at}` : undefined}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        value={typed ?? shown}
        onChange={(event) => open(event.target.value)}
        onFocus={(event) => event.target.select()}
        onClick={() => !isOpen && open(undefined)}
        onBlur={settle}
        onKeyDown={onKeyDown}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="muted-small">
          {hint}
        </p>
      )}
      <div className={styles.list} hidden={!isOpen}>
        <ul id={`${id}-list`} role="listbox" aria-label={label}>
          {found.map(({ value, label: text, note }, index) => (
            <li
              key={value}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              // Keeps the focus in the field: its blur would close the list before the click.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => pick(value)}
            >
              <bdi>{text}</bdi>
              {note !== undefined && <code>{note}</code>}
            </li>
          ))}
        </ul>
        {isOpen && found.length === 0 && <p role="status">{none}</p>}
        {isOpen && more && (
          <button
            type="button"
            className="text-button"
            onMouseDown={(event) => event.preventDefault()}
            onClick={more}
          >
            Show more
          </button>
        )}
      </div>
    </div>
  )
}
