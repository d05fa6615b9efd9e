import { Link, useLocation } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { shownKeys, useAllCommands, useCommands } from '../../shell/commands.tsx'
import { useConnection } from '../../shell/live.tsx'
import { useSession } from '../../shell/session.tsx'
import styles from './page.module.css'
import { PageLines } from '../copy/api-lines.tsx'
import { Menu, type MenuItem } from '../menu/menu.tsx'
import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { places } from '../../shell/places.ts'
import { FAMILIES, familyOf, type Family } from '../../api/kinds.ts'

/** A breadcrumb: a link, and a menu of its siblings if it has any. */
export interface Crumb {
  readonly label: string
  readonly to?: string
  readonly siblings?: Siblings
}

export interface PageProps {
  /** From the outermost to the current one, which is the page's heading if it has no other `title`. */
  readonly crumbs: readonly Crumb[]
  readonly title?: string
  /** Content beside the heading. */
  readonly about?: ReactNode
  /** The buttons of the page, the primary one last. */
  readonly actions?: ReactNode
  /** Uses the whole width: for grids, diffs and boards. */
  readonly wide?: boolean
  /** Fills the height: parts of the content scroll by themselves. */
  readonly fills?: boolean
  readonly children: ReactNode
}

/** A page inside the frame: breadcrumbs, heading with actions, and content. */
export function Page(props: PageProps) {
  const { crumbs, about, actions, wide = false, fills = false, children } = props
  const { title = crumbs.at(-1)?.label ?? '' } = props
  useEffect(() => {
    document.title = [...crumbs.map(({ label }) => label).reverse(), 'Branchpoint'].join(' · ')
  })
  const heading = useFocusOnArrival(title)
  const { pathname, search } = useLocation()
  return (
    <>
      <header className={styles.bar}>
        <nav className={styles.crumbs} aria-label="Where you are">
          <ol>
            {crumbs.map((crumb, at) => (
              <li key={at}>
                {at > 0 && <span aria-hidden>▸</span>}
                <CrumbPart crumb={crumb} isHere={at === crumbs.length - 1} />
              </li>
            ))}
          </ol>
        </nav>
        <SearchButton />
        <Standing />
      </header>
      <main id="content" tabIndex={-1} className={fills ? styles.filled : styles.content}>
        <div className={[wide || fills ? '' : styles.reading, fills ? styles.fills : ''].join(' ')}>
          <div className={styles.heading}>
            <h1 ref={heading} tabIndex={-1} dir="auto">
              {title}
            </h1>
            {about !== undefined && <div className="row muted">{about}</div>}
            {actions !== undefined && <div className={`row ${styles.actions}`}>{actions}</div>}
          </div>
          {children}
          <PageLines path={pathname} kind={search.kind} />
        </div>
      </main>
    </>
  )
}

/** Where the browser itself loaded the page, and said so. */
const openedAt = location.pathname

let hasMoved = false

/**
 * Gives a heading the focus when one has come to another page and what had the focus went with the page before: a screen reader then says where
 * one is, and Tab goes on from there.
 */
function useFocusOnArrival(title: string) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    hasMoved ||= location.pathname !== openedAt
    if (hasMoved && document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
  }, [title])
  return heading
}

interface CrumbPartProps {
  readonly crumb: Crumb
  readonly isHere: boolean
}

function CrumbPart({ crumb: { label, to, siblings }, isHere }: CrumbPartProps) {
  const current = isHere ? 'page' : undefined
  return (
    <>
      {to === undefined ? (
        <span className={styles.crumb} aria-current={current} dir="auto">
          {label}
        </span>
      ) : (
        <Link className={styles.crumb} to={to} aria-current={current} dir="auto">
          {label}
        </Link>
      )}
      {siblings && <CrumbMenu siblings={siblings} here={label} />}
    </>
  )
}

function SearchButton() {
  const commands = useAllCommands()
  return (
    <button
      type="button"
      className={`control ${styles.search}`}
      onClick={() => commands.find(({ id }) => id === 'palette')?.run()}
    >
      <Search size={14} aria-hidden />
      <span>Search</span>
      <kbd>{shownKeys('mod+k')}</kbd>
    </button>
  )
}

/** The state of the event stream, and who is signed in. */
function Standing() {
  const connection = useConnection()
  const { principal, project } = useSession()
  return (
    <div className={styles.standing}>
      <span className={styles[connection]} title={WHAT[connection]}>
        <span aria-hidden>●</span> <span className={styles.word}>{connection}</span>
      </span>
      <Link to="/settings/session" title={`Signed in with the key "${principal.name}", project ${project}`}>
        <bdi>{principal.name}</bdi>
      </Link>
    </div>
  )
}

const WHAT = {
  live: 'Changes by others appear by themselves.',
  connecting: 'Connecting: changes by others do not appear yet.',
  lost: 'Changes by others do not appear now; the page keeps trying.',
  refused: 'The server sends no events now, so changes by others do not appear; the page keeps trying.',
} as const

interface CrumbMenuProps {
  readonly siblings: Siblings
  /** The current one of them. */
  readonly here: string
}

/** The button beside a breadcrumb that lists its siblings, loaded when it opens. */
function CrumbMenu({ siblings, here }: CrumbMenuProps) {
  const [isOpen, setOpen] = useState(false)
  const { data, error } = useSiblings(siblings, isOpen)
  const { one, keys } = SIBLINGS_OF[siblings.of]
  const title =
    siblings.of === 'artifacts' ? `Go to another ${familyOf(siblings.family)?.one}` : `Go to another ${one}`
  useCommands([{ id: `siblings ${one}`, title, keys, group: 'Go to', run: () => setOpen(true) }])
  const waiting = error ? error.message : 'Loading …'
  const items: readonly MenuItem[] = data
    ? [...data.items, ...(data.all ? [data.all] : [])].map((item) => ({
        ...item,
        isHere: item.label === here || item.note === here,
      }))
    : [{ label: waiting, refusal: waiting, run: () => undefined }]
  return (
    <Menu
      label={<span className="visually-hidden">{title}</span>}
      title={title}
      isSmall
      items={items}
      open={isOpen}
      onOpen={setOpen}
    />
  )
}

/** The families with pages for variants and versions. */
type VersionedFamily = 'workflows' | 'testsets'

/** The siblings of a breadcrumb. */
type Siblings =
  | { readonly of: 'families' }
  | { readonly of: 'artifacts'; readonly family: Family['kind'] }
  | {
      readonly of: 'variants'
      readonly family: VersionedFamily
      readonly artifact: string
      /** The page that they lead to, if not the one that shows them. */
      readonly page?: 'edit'
    }
  | {
      readonly of: 'versions'
      readonly family: VersionedFamily
      readonly artifact: string
      readonly variant: string
    }
  | { readonly of: 'environments' }

interface Sibling {
  readonly label: string
  readonly note?: string
  readonly to: string
}

interface SiblingList {
  readonly items: readonly Sibling[]
  /** A link to all of them, if there are more. */
  readonly all?: Sibling
}

/** The page of the list has the rest. */
const MAX_CHOICES = 40

/** The singular of the siblings, and the keys that open their list. */
const SIBLINGS_OF = {
  families: { one: 'list', keys: 'g f' },
  artifacts: { one: 'of its kind', keys: 'g a' },
  variants: { one: 'variant', keys: 'g v' },
  versions: { one: 'version', keys: 'g n' },
  environments: { one: 'environment', keys: 'g e' },
} as const

/** The siblings, loaded while `isWanted`. */
function useSiblings(siblings: Siblings, isWanted: boolean) {
  return useQuery({
    queryKey: ['siblings', siblings],
    queryFn: () => load(siblings),
    enabled: isWanted,
    staleTime: 2000,
  })
}

async function load(siblings: Siblings): Promise<SiblingList> {
  switch (siblings.of) {
    case 'families':
      return { items: FAMILIES.map(({ kind, title }) => ({ label: title, to: places.home(kind) })) }
    case 'artifacts':
      return artifacts(siblings.family)
    case 'variants':
      return variants(siblings)
    case 'versions':
      return versions(siblings)
    case 'environments': {
      const { environments } = await call('POST /environments/query', { body: {} })
      return { items: environments.map(({ slug }) => ({ label: slug, to: places.environment(slug) })) }
    }
  }
}

async function artifacts(family: Family['kind']): Promise<SiblingList> {
  // The lists of all families have the same shape under different names.
  const answer = (await call(`POST /${family}/query` as 'POST /workflows/query', {
    body: { windowing: { limit: MAX_CHOICES, order: '-updated' } },
  })) as Readonly<Record<string, unknown>> & { readonly windowing?: object }
  const listed = answer[family] as readonly { readonly slug: string; readonly name?: string }[]
  const placeOf =
    family === 'testsets' ? places.testset : family === 'queries' ? places.query : places.artifact
  return {
    items: listed.map(({ slug, name }) => ({
      label: slug,
      ...(name === undefined || name === slug ? {} : { note: name }),
      to: placeOf(slug),
    })),
    ...('next' in (answer.windowing ?? {}) ? { all: { label: 'All of them', to: places.home(family) } } : {}),
  }
}

/** Both families are asked and answered in the same way, in their own words. */
async function variants({
  family,
  artifact,
  page,
}: Extract<Siblings, { of: 'variants' }>): Promise<SiblingList> {
  const one = family === 'testsets' ? 'testset' : 'workflow'
  const answer = await call(`POST /${family}/variants/query` as 'POST /workflows/variants/query', {
    body: { [`${one}_refs`]: [{ slug: artifact }], windowing: { limit: MAX_CHOICES, order: 'created' } },
  })
  const found = answer[`${one}_variants` as 'workflow_variants']
  return {
    items: found.map(({ slug }) => ({
      label: slug,
      to: page === 'edit' ? places.edit(artifact, slug) : versionPlace(family, artifact, slug),
    })),
    ...(found.length < MAX_CHOICES
      ? {}
      : { all: { label: 'All variants', to: artifactPlace(family, artifact) } }),
  }
}

async function versions({
  family,
  artifact,
  variant,
}: Extract<Siblings, { of: 'versions' }>): Promise<SiblingList> {
  const one = family === 'testsets' ? 'testset' : 'workflow'
  const answer = await call(`POST /${family}/revisions/log` as 'POST /workflows/revisions/log', {
    body: {
      [`${one}_ref`]: { slug: artifact },
      [`${one}_variant_ref`]: { slug: variant },
      windowing: { limit: MAX_CHOICES },
    },
  })
  const found = answer[`${one}_revisions` as 'workflow_revisions']
  return {
    items: found.map(({ version, message, subject }) => ({
      label: `v${version}`,
      note: message ?? subject,
      to: versionPlace(family, artifact, variant, Number(version)),
    })),
    ...(found.length < MAX_CHOICES
      ? {}
      : { all: { label: 'All versions', to: artifactPlace(family, artifact) } }),
  }
}

function artifactPlace(family: VersionedFamily, artifact: string): string {
  return family === 'testsets' ? places.testset(artifact) : places.artifact(artifact)
}

function versionPlace(family: VersionedFamily, artifact: string, variant: string, version?: number): string {
  return family === 'testsets'
    ? places.testsetVersion(artifact, variant, version)
    : places.version(artifact, variant, version)
}
