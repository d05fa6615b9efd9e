import { useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { useDeferredValue, useEffect, useState } from 'react'
import { useRoute } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { FileDrop } from '../../parts/upload-drop/file-drop.tsx'
import { NewTestset } from '../../parts/upload-drop/new-testset.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/news-line.tsx'
import { places } from '../../shell/places.ts'
import { ArtifactList } from './artifact-list.tsx'
import { familyOf } from './families.ts'
import { NewArtifact } from './new-artifact.tsx'
import { Overview } from './overview.tsx'
import { SearchResults } from './search-results.tsx'
import { SearchBox } from './search-box.tsx'
import { Tour } from './tour.tsx'
import styles from './home.module.css'

/**
 * The start: a search, the families, what is newest, what runs where. `?kind=` lists a family, `?q=` searches, `?tour=1` begins anew. A file of rows
 * that is dropped on it becomes a testset.
 */
export default function HomePage() {
  const {
    kind,
    q = '',
    tour,
    archived,
    sort,
  } = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const navigate = useNavigate()
  const [words, setWords] = useState(q)
  // Typing replaces the address; whatever else leads to other words is a place of its own in the history.
  const { state, search: asSent } = useLocation()
  useEffect(() => setWords((asSent as { readonly q?: string }).q ?? ''), [state.__TSR_index])
  const asked = useDeferredValue(words.trim())
  const family = familyOf(kind)
  const { data, error, refetch } = useRoute('GET /projects/current', {})
  const project = data?.project
  const [file, setFile] = useState<File | 'none'>()
  const upload = (
    <Button needs="write" onClick={() => setFile('none')}>
      Testset from a file
    </Button>
  )
  useCommands([{ id: 'upload', title: 'Make a testset from a file', keys: 'u', run: () => setFile('none') }])
  const isNew = project !== undefined && project.counts.workflows === 0 && project.counts.testsets === 0

  function search(typed: string): void {
    setWords(typed)
    void navigate({
      to: '/',
      search: {
        ...(kind === undefined ? {} : { kind }),
        ...(archived === undefined ? {} : { archived }),
        ...(typed.trim() === '' ? {} : { q: typed }),
      },
      replace: true,
    })
  }

  return (
    <Page
      crumbs={
        family
          ? [
              { label: 'Home', to: '/' },
              { label: family.title, siblings: { of: 'families' } },
            ]
          : [{ label: project?.name ?? 'Home' }]
      }
      fills={family !== undefined}
      actions={
        family?.create && (
          <>
            {family.kind === 'testsets' && upload}
            <NewArtifact family={family} />
          </>
        )
      }
    >
      <SearchBox value={words} onChange={search} family={family} />
      {error && <Failure error={error} retry={refetch} />}
      {family === undefined && (
        <NewsLine concerns={({ kind: told }) => told === 'artifact' || told === 'revision'} />
      )}
      <FileDrop className={styles.drop} label="Drop the file to make a testset from it" drop={setFile}>
        {family ? (
          <ArtifactList
            // Another list begins at its top.
            key={JSON.stringify([family.kind, asked, sort, archived])}
            family={family}
            words={asked}
            make={family.kind === 'testsets' ? upload : undefined}
          />
        ) : asked.length > 1 ? (
          <SearchResults words={asked} />
        ) : (
          <>
            {(isNew || tour !== undefined) && <Tour leave={() => void navigate({ to: places.home() })} />}
            {project && !isNew && <Overview project={project} begin={upload} />}
          </>
        )}
      </FileDrop>
      {file !== undefined && (
        <NewTestset file={file === 'none' ? undefined : file} close={() => setFile(undefined)} />
      )}
    </Page>
  )
}
