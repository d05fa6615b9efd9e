import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { ArtifactPicker } from '../../parts/artifact-picker/artifact-picker.tsx'
import { Button } from '../../parts/button/button.tsx'
import { ChoiceField } from '../../parts/fields/choice-field.tsx'
import { TextField } from '../../parts/fields/text-field.tsx'
import { places } from '../../shell/places.ts'
import { PERIODS, type TraceQuery } from './trace-question.ts'
import styles from './traces.module.css'

/** What narrows the list. Choices count at once, what is typed with Enter or the button; all of it stands in the address. */
export function TraceFilters({ filters }: { readonly filters: TraceQuery }) {
  const navigate = useNavigate()
  const [text, setText] = useState(filters.text ?? '')
  const [slower, setSlower] = useState(filters.slower ?? '')
  // Back and forward change the address, and what is typed with it.
  useEffect(() => setText(filters.text ?? ''), [filters.text])
  useEffect(() => setSlower(filters.slower ?? ''), [filters.slower])
  const set = (changed: Partial<TraceQuery>): void =>
    void navigate({ to: places.traces(), search: { ...filters, ...changed } as never })
  const isNumber = slower === '' || Number(slower) > 0
  function submit(event: FormEvent): void {
    event.preventDefault()
    if (isNumber) set({ text: text === '' ? undefined : text, slower: slower === '' ? undefined : slower })
  }
  const isNarrowed = Object.values(filters).some((value) => value !== undefined)
  return (
    <form className={styles.filters} onSubmit={submit} role="search" aria-label="Traces">
      <TextField
        label="Text in it"
        value={text}
        onChange={setText}
        placeholder="in inputs, outputs, errors"
      />
      <ArtifactPicker
        label="Of the prompt"
        family="application"
        placeholder="any"
        value={filters.artifact ?? ''}
        onChange={(slug) => set({ artifact: slug === '' ? undefined : slug })}
      />
      <ChoiceField
        label="Status"
        value={filters.status ?? ''}
        choices={[
          { value: '', label: 'any' },
          { value: 'error', label: 'errors' },
          { value: 'ok', label: 'succeeded' },
        ]}
        onChange={(status) => set({ status: status === 'error' || status === 'ok' ? status : undefined })}
      />
      <ChoiceField
        label="Time"
        value={filters.since ?? ''}
        choices={[
          { value: '', label: 'any' },
          ...Object.entries(PERIODS).map(([value, { label }]) => ({ value, label })),
        ]}
        onChange={(since) => set({ since: since === '' ? undefined : since, before: undefined })}
      />
      <TextField
        label="At least ms"
        inputMode="decimal"
        value={slower}
        onChange={setSlower}
        placeholder="0"
        problem={isNumber ? undefined : 'Milliseconds, such as 1500.'}
      />
      <div className={styles.buttons}>
        <Button type="submit">Filter</Button>
        {isNarrowed && <Link to={places.traces()}>Show all</Link>}
      </div>
      {filters.before !== undefined && (
        <p className={styles.before}>
          Before {new Date(filters.before).toLocaleString()}.{' '}
          <Link to={places.traces()} search={{ ...filters, before: undefined } as never}>
            Up to now
          </Link>
        </p>
      )}
    </form>
  )
}
