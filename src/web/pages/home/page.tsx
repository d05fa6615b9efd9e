import { useLocation, useNavigate, Link } from '@tanstack/react-router'
import { lazy, Suspense, useDeferredValue, useEffect, useState } from 'react'
import { useRoute, usePages } from '../../api/use-route.ts'
import { Button, MoreButton } from '../../parts/button/button.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Failure, Empty, Skeleton } from '../../parts/states/states.tsx'
import { FileDrop } from '../../parts/upload/upload.tsx'
import { NewTestset } from '../../parts/upload/new-testset.tsx'
import { announce } from '../../shell/announcements.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/live.tsx'
import { places, useAddress, useChangeAddress } from '../../shell/places.ts'
import { FAMILIES, familyOf, type Family } from '../../api/kinds.ts'
import { Overview } from './overview.tsx'
import { Doors, NewDrafts, Tour } from './tour.tsx'
import styles from './home.module.css'
import { Search } from 'lucide-react'
import { useRefusal } from '../../shell/session.tsx'
import { COMMAND } from '../../shell/document.ts'
import { placeOfHit, SEARCHED_AGAIN, type SearchHit, wordOfKind } from '../../api/kinds.ts'
import { type Archivable, ArchivedBadge, ArchivedToggle, BringBack } from '../../parts/archive/archive.tsx'
import { Highlighted } from '../../parts/text/text.tsx'

/** Loaded where they are shown: the start comes without them. */
const ArtifactList = lazy(() => import('./artifact-list.tsx').then((it) => ({ default: it.ArtifactList })))
const FolderTree = lazy(() => import('./artifact-list.tsx').then((it) => ({ default: it.FolderTree })))
const MakeDialog = lazy(() => import('./make-dialog.tsx').then((it) => ({ default: it.MakeDialog })))

/**
 * The home page: search, lists, latest changes, deployments. `?kind=` shows a list, `?q=` searches, `?tour=1` shows the tour, `?make=` opens the dialog
 * that makes something new. A dropped file becomes a testset.
 */
export default function HomePage() {
  const { kind, q = '', tour, archived, sort, folder, tag, env, make } = useAddress()
  const navigate = useNavigate()
  const change = useChangeAddress()
  const [words, setWords] = useState(q)
  // Typing replaces the address; other changes of the words are entries in the history.
  const { state, search: asSent } = useLocation()
  useEffect(() => setWords((asSent as { readonly q?: string }).q ?? ''), [state.__TSR_index])
  const asked = useDeferredValue(words.trim())
  const family = familyOf(kind)
  const { data, error, refetch } = useRoute('GET /projects/current', {})
  const project = data?.project
  const [file, setFile] = useState<File | 'none'>()
  const [making, setMaking] = useState<Family>()
  useEffect(() => {
    if (make === undefined) return
    setMaking(familyOf(make))
    change({ make: undefined }, true)
  }, [make])
  const lacking = useRefusal('write')
  const upload = (
    <Button needs="write" onClick={() => setFile('none')}>
      Testset from a file
    </Button>
  )
  useCommands([
    {
      id: 'upload',
      title: 'Make a testset from a file',
      keys: 'u',
      refusal: lacking,
      run: () => setFile('none'),
    },
  ])
  const isNew = project !== undefined && project.counts.workflows === 0 && project.counts.testsets === 0
  const takeTour = (): void => void navigate({ to: '/', search: { tour: '1' } })

  function search(typed: string): void {
    setWords(typed)
    change({ q: typed.trim() === '' ? undefined : typed, tour: undefined }, true)
  }

  return (
    <Page
      crumbs={
        family
          ? [
              { label: 'Home', to: '/' },
              { label: family.title, siblings: { of: 'families' } },
            ]
          : [{ label: nameOfProject(project?.name) }]
      }
      about={family ? undefined : 'Write, test and release prompts. Every change is kept.'}
      fills={family !== undefined}
      actions={
        (family || (project && !isNew)) && (
          <>
            {(family?.kind ?? 'testsets') === 'testsets' && upload}
            <NewButton family={family ?? PROMPTS} open={() => setMaking(family ?? PROMPTS)} />
          </>
        )
      }
    >
      <SearchBox value={words} onChange={search} family={family} />
      {error && <Failure error={error} retry={refetch} />}
      {family && (
        <Suspense>
          <FolderTree />
        </Suspense>
      )}
      {family === undefined && (
        <NewsLine isNamed concerns={({ kind: told }) => told === 'artifact' || told === 'revision'} />
      )}
      <FileDrop className={styles.drop} label="Drop the file to make a testset from it" drop={setFile}>
        {family ? (
          <Suspense fallback={<Skeleton label={`Loading the ${family.title.toLowerCase()}`} />}>
            <ArtifactList
              // Another list starts at its top.
              key={JSON.stringify([family.kind, asked, sort, archived, folder, tag, env])}
              family={family}
              words={asked}
              make={family.kind === 'testsets' ? upload : undefined}
            />
          </Suspense>
        ) : asked.length > 1 ? (
          <SearchResults words={asked} />
        ) : (
          <>
            {tour !== undefined ? (
              <Tour leave={() => void navigate({ to: places.home() })} />
            ) : (
              isNew && (
                <Doors write={() => setMaking(PROMPTS)} bring={() => setFile('none')} takeTour={takeTour} />
              )
            )}
            <NewDrafts />
            {project && !isNew && <Overview project={project} takeTour={takeTour} />}
          </>
        )}
      </FileDrop>
      <Suspense>
        {making && <MakeDialog key={making.kind} family={making} close={() => setMaking(undefined)} />}
      </Suspense>
      {file !== undefined && (
        <NewTestset file={file === 'none' ? undefined : file} close={() => setFile(undefined)} />
      )}
    </Page>
  )
}

/** The first of the lists: what most people come for. */
const [PROMPTS] = FAMILIES as readonly [Family, ...Family[]]

/** The first project of a server is called `default`. */
function nameOfProject(name: string | undefined): string {
  if (name === undefined) return 'Home'
  return name === 'default' ? 'Default project' : name
}

interface SearchBoxProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly family: Family | undefined
}

/** Searches as one types. */
function SearchBox({ value, onChange, family }: SearchBoxProps) {
  const label = family
    ? `Search ${family.title.toLowerCase()} by name, message or text`
    : 'Search names, messages and texts'
  return (
    <search className={styles.search}>
      <Search size={16} aria-hidden />
      <input
        type="search"
        dir="auto"
        aria-label={label}
        placeholder={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </search>
  )
}

interface NewButtonProps {
  readonly family: Family
  readonly open: () => void
}

/** Opens the dialog that makes one of the family. */
function NewButton({ family, open }: NewButtonProps) {
  const title = `New ${family.one}`
  const refusal = useRefusal('write')
  useCommands([{ id: 'new', title, keys: 'n', refusal, run: open }])
  return (
    <Button kind="primary" needs="write" onClick={open}>
      {title}
    </Button>
  )
}

/** The search results, best first, with excerpts. */
function SearchResults({ words }: { readonly words: string }) {
  const { archived } = useAddress()
  const change = useChangeAddress()
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = usePages(
    'POST /search',
    {
      body: {
        query: words,
        ...(archived === undefined ? {} : { include_archived: true }),
        windowing: { limit: 25 },
      },
    },
    { refetchInterval: SEARCHED_AGAIN },
  )
  const hits = data?.pages.flatMap((page) => page.hits) ?? []
  useEffect(() => {
    if (hits.length > 0) announce(`${hits.length} found${hasNextPage ? ', and there are more' : ''}`)
  }, [words, hits.length, hasNextPage])
  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Skeleton label="Searching" />
  const toggle = (
    <ArchivedToggle
      isOn={archived !== undefined}
      onChange={(isOn) => change({ archived: isOn ? '1' : undefined }, true)}
    />
  )
  if (hits.length === 0) {
    return (
      <>
        {toggle}
        <Empty command={`${COMMAND} search '${words.replaceAll("'", '’')}'`}>
          No results. Use quotes for a phrase, * at the end of a word for a prefix, and - to exclude a word.
        </Empty>
      </>
    )
  }
  return (
    <>
      {toggle}
      <ol className={styles.hits} aria-label="What was found">
        {hits.map((hit, at) => (
          <li key={at}>
            <Hit hit={hit} />
          </li>
        ))}
      </ol>
      <MoreButton of={{ hasNextPage, isFetchingNextPage, fetchNextPage }}>More</MoreButton>
    </>
  )
}

function Hit({ hit }: { readonly hit: SearchHit }) {
  const { kind, artifact, variant, revision, field } = hit
  return (
    <>
      <div className={styles.hitHead}>
        <Link {...placeOfHit(hit)} dir="auto">
          {artifact.name ?? artifact.slug}
        </Link>
        <span>
          {[wordOfKind(kind), variant?.slug, revision && `v${revision.version}`, whereIn(field, hit.place)]
            .filter(Boolean)
            .join(' · ')}
        </span>
        {hit.archived && (
          <>
            <ArchivedBadge />
            <BringBack it={archivedOf(hit, hit.archived)} />
          </>
        )}
      </div>
      <p className={styles.excerpt} dir="auto">
        <Highlighted text={hit.excerpt} ranges={hit.ranges} />
      </p>
    </>
  )
}

/** What of a hit is archived. */
function archivedOf(
  { kind, artifact, variant, revision }: SearchHit,
  level: Archivable['level'],
): Archivable {
  return {
    ...{ level, artifact: artifact.slug, variant: variant?.slug, word: wordOfKind(kind) },
    family:
      kind === 'testset' || kind === 'row'
        ? 'testsets'
        : kind === 'query'
          ? 'queries'
          : kind === 'environment'
            ? 'environments'
            : 'workflows',
    id: (level === 'artifact' ? artifact.id : level === 'variant' ? variant?.id : revision?.id) ?? '',
    version: revision && Number(revision.version),
  }
}

function whereIn(field: SearchHit['field'], place: SearchHit['place']): string {
  if (field !== 'data') return field
  if (typeof place === 'string') return place
  return place && 'row' in place ? `row ${place.row}, ${String(place.column)}` : field
}
