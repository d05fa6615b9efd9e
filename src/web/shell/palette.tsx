import { useNavigate } from '@tanstack/react-router'
import { Command as List } from 'cmdk'
import { Dialog } from 'radix-ui'
import { useDeferredValue, useState } from 'react'
import { useRoute } from '../api/use-route.ts'
import { placeOfHit, SEARCHED_AGAIN, type SearchHit, wordOfKind } from '../api/hits.ts'
import { Highlighted } from '../parts/highlighted/highlighted.tsx'
import { shownKeys, useAllCommands } from './commands.tsx'
import styles from './palette.module.css'

export interface PaletteProps {
  readonly open: boolean
  /** Without commands: what `/` opens. */
  readonly searchesOnly: boolean
  readonly close: () => void
}

/** Goes to what is typed, or does it: commands of this page and the frame, and a search in names, messages and texts. */
export function Palette({ open, searchesOnly, close }: PaletteProps) {
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className={styles.overlay} />
        <Dialog.Content className={styles.palette} aria-describedby={undefined}>
          <Dialog.Title className="visually-hidden">{searchesOnly ? 'Search' : 'Palette'}</Dialog.Title>
          <Choices searchesOnly={searchesOnly} close={close} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Choices({ searchesOnly, close }: Omit<PaletteProps, 'open'>) {
  const [words, setWords] = useState('')
  const asked = useDeferredValue(words.trim())
  const navigate = useNavigate()
  const all = useAllCommands()
  const { data, error, isFetching } = useRoute(
    'POST /search',
    { body: { query: asked, windowing: { limit: 12 } } },
    { enabled: asked.length > 1, keepPrevious: true, refetchInterval: SEARCHED_AGAIN },
  )
  const hits = asked.length > 1 ? (data?.hits ?? []) : []
  const wanted = words.trim().toLowerCase()
  const commands = searchesOnly ? [] : all.filter(({ title }) => title.toLowerCase().includes(wanted))
  const choose = (run: () => void) => () => {
    close()
    run()
  }
  return (
    <List
      label={searchesOnly ? 'Words to search for' : 'Command or words to search for'}
      shouldFilter={false}
      loop
    >
      <List.Input
        className={styles.input}
        value={words}
        onValueChange={setWords}
        placeholder={searchesOnly ? 'Search names, messages and texts' : 'Go to, do, or search'}
      />
      <List.List className={styles.list}>
        {commands.length === 0 && hits.length === 0 && (
          <p className={styles.empty} role="status">
            {error
              ? error.message
              : isFetching
                ? 'Searching …'
                : wanted === ''
                  ? 'Type some words.'
                  : 'Nothing was found.'}
          </p>
        )}
        {commands.length > 0 && (
          <List.Group heading="Commands">
            {commands.map(({ id, title, keys, refusal, run }) => (
              <List.Item
                key={id}
                value={`command ${id}`}
                disabled={refusal !== undefined}
                onSelect={choose(run)}
              >
                <span>{title}</span>
                {refusal !== undefined && <span className={styles.note}>{refusal}</span>}
                {keys !== undefined && <kbd>{shownKeys(keys)}</kbd>}
              </List.Item>
            ))}
          </List.Group>
        )}
        {hits.length > 0 && (
          <List.Group heading="Found">
            {hits.map((hit, at) => (
              <List.Item
                key={at}
                value={`hit ${at} ${hit.artifact.id}`}
                onSelect={choose(() => void navigate(placeOfHit(hit)))}
              >
                <Hit hit={hit} />
              </List.Item>
            ))}
          </List.Group>
        )}
        {asked.length > 1 && commands.length === 0 && hits.length === 0 && !isFetching && (
          <List.Group heading="Elsewhere">
            <List.Item
              value="archived"
              onSelect={choose(
                () => void navigate({ to: '/', search: { q: asked, archived: '1' } as never }),
              )}
            >
              <span>Search in what is archived, too</span>
            </List.Item>
          </List.Group>
        )}
      </List.List>
    </List>
  )
}

function Hit({ hit }: { readonly hit: SearchHit }) {
  return (
    <span className={styles.hit}>
      <span>
        <b>{hit.artifact.slug}</b> <span className={styles.note}>{wordOfKind(hit.kind)}</span>
      </span>
      <span className={styles.excerpt} dir="auto">
        <Highlighted text={hit.excerpt} ranges={hit.ranges} />
      </span>
    </span>
  )
}
