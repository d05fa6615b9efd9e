import { useDeferredValue, useState } from 'react'
import { Combobox } from '../combobox/combobox.tsx'
import { type PickedFamily, useFoundArtifacts } from './use-found-artifacts.ts'

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

/** A field for an artifact's slug that searches as one types. */
export function ArtifactPicker({ family, value, onChange, ...rest }: ArtifactPickerProps) {
  const [typed, setTyped] = useState<string>()
  const words = useDeferredValue((typed ?? '').trim())
  const { found, error, isFetching } = useFoundArtifacts(family, words, typed !== undefined)
  return (
    <Combobox
      {...rest}
      shown={value}
      found={found.map(({ slug, name }) => ({
        value: slug,
        label: name ?? slug,
        note: name !== undefined && name !== slug ? slug : undefined,
      }))}
      none={
        error ? error.message : isFetching ? 'Searching …' : `Nothing has “${words}” in its name or text.`
      }
      onWords={setTyped}
      choose={onChange}
      clear={() => onChange('')}
    />
  )
}
