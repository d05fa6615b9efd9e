import { useNavigate, useSearch } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { useRoute } from '../../api/use-route.ts'
import { Page } from '../../parts/page/page.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { NewsLine } from '../../shell/news-line.tsx'
import { places } from '../../shell/places.ts'
import { ArtifactList } from './artifact-list.tsx'
import { familyOf } from './families.ts'
import { NewArtifact } from './new-artifact.tsx'
import { Overview } from './overview.tsx'
import { SearchResults } from './search-results.tsx'
import { SearchBox } from './search-box.tsx'
import { Tour } from './tour.tsx'

/** The start: a search, the families, what is newest, what runs where. `?kind=` lists a family, `?q=` searches, `?tour=1` begins anew. */
export default function HomePage() {
  const { kind, q = '', tour } = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const navigate = useNavigate()
  const [words, setWords] = useState(q)
  const asked = useDeferredValue(words.trim())
  const family = familyOf(kind)
  const { data, error, refetch } = useRoute('GET /projects/current', {})
  const project = data?.project
  const isNew = project !== undefined && project.counts.workflows === 0 && project.counts.testsets === 0

  function search(typed: string): void {
    setWords(typed)
    void navigate({
      to: '/',
      search: { ...(kind === undefined ? {} : { kind }), ...(typed.trim() === '' ? {} : { q: typed }) },
      replace: true,
    })
  }

  return (
    <Page
      crumbs={
        family ? [{ label: 'Home', to: '/' }, { label: family.title }] : [{ label: project?.name ?? 'Home' }]
      }
      fills={family !== undefined}
      actions={family?.create && <NewArtifact family={family} />}
    >
      <SearchBox value={words} onChange={search} family={family} />
      {error && <Failure error={error} retry={refetch} />}
      {family === undefined && (
        <NewsLine concerns={({ kind: told }) => told === 'artifact' || told === 'revision'} />
      )}
      {family ? (
        <ArtifactList key={family.kind} family={family} words={asked} />
      ) : asked.length > 1 ? (
        <SearchResults words={asked} />
      ) : (
        <>
          {(isNew || tour !== undefined) && <Tour leave={() => void navigate({ to: places.home() })} />}
          {project && !isNew && <Overview project={project} />}
        </>
      )}
    </Page>
  )
}
