import { useDeferredValue, useId, useState } from 'react'
import { type PickedFamily, useFoundArtifacts } from './use-found-artifacts.ts'
import styles from './artifact-picker.module.css'

export interface ArtifactPickerProps {
  readonly label: string
  readonly family: PickedFamily
  /** The slug that is picked, or '' for none. */
  readonly value: string
  readonly onChange: (slug: string) => void
  readonly hint?: string
  readonly placeholder?: string
  readonly autoFocus?: boolean
}

/** A field for an artifact's slug that searches as one types (a combobox: arrows, Enter, Escape). */
export function ArtifactPicker(props: ArtifactPickerProps) {
  const { label, family, value, onChange, hint, placeholder, autoFocus = false } = props
  const id = useId()
  const [typed, setTyped] = useState<string>()
  const [at, setAt] = useState(0)
  const isOpen = typed !== undefined
  const words = useDeferredValue((typed ?? '').trim())
  const { found, error, isFetching } = useFoundArtifacts(family, words, isOpen)
  const choose = (slug: string): void => {
    setTyped(undefined)
    onChange(slug)
  }
  /** Who types a slug that there is need not point at it. */
  const settle = (): void => {
    if (typed === undefined) return
    const exact = found.find(({ slug }) => slug === typed.trim())
    if (typed.trim() === '' || exact) choose(exact?.slug ?? '')
    else setTyped(undefined)
  }
  function onKeyDown(event: React.KeyboardEvent): void {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (!isOpen) setTyped('')
      else setAt(Math.max(0, Math.min(found.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1))))
    } else if (event.key === 'Enter' && isOpen) {
      event.preventDefault()
      const picked = found[at]
      if (typed.trim() === '') choose('')
      else if (picked) choose(picked.slug)
    } else if (event.key === 'Escape' && isOpen) {
      // Only the list closes, not the dialog around it.
      event.stopPropagation()
      event.nativeEvent.stopImmediatePropagation()
      setTyped(undefined)
    }
  }
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        role="combobox"
        autoComplete="off"
        spellCheck={false}
        autoFocus={autoFocus}
        placeholder={placeholder}
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && found[at] ? `${id}-${at}` : undefined}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        value={typed ?? value}
        onChange={(event) => {
          setTyped(event.target.value)
          setAt(0)
        }}
        onFocus={(event) => event.target.select()}
        onClick={() => setTyped((before) => before ?? '')}
        onBlur={settle}
        onKeyDown={onKeyDown}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} className={styles.hint}>
          {hint}
        </p>
      )}
      <div className={styles.list} hidden={!isOpen}>
        <ul id={`${id}-list`} role="listbox" aria-label={label}>
          {found.map(({ slug, name }, index) => (
            <li
              key={slug}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              // The field keeps the focus, so that its blur does not close the list first.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(slug)}
            >
              <span>{name ?? slug}</span>
              {name !== undefined && name !== slug && <code>{slug}</code>}
            </li>
          ))}
        </ul>
        {isOpen && found.length === 0 && (
          <p role="status">
            {error
              ? error.message
              : isFetching
                ? 'Searching …'
                : `Nothing has “${words}” in its name or text.`}
          </p>
        )}
      </div>
    </div>
  )
}
