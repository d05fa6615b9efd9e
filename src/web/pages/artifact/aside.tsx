import { Link } from '@tanstack/react-router'
import { GitBranch } from 'lucide-react'
import { useState, lazy, Suspense } from 'react'
import { type Artifact, artifactKind } from '../../api/kinds.ts'
import { useRoute } from '../../api/use-route.ts'
import { type Archivable, ArchivedBadge, ArchivedToggle, BringBack } from '../../parts/archive/archive.tsx'
import { Button } from '../../parts/button/button.tsx'
import { ApiLines, cloneCommand, curlOf } from '../../parts/copy/api-lines.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Menu } from '../../parts/menu/menu.tsx'
import { useSeen } from '../../parts/seen/use-seen.ts'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { Ago } from '../../parts/time/time.tsx'
import { places } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import styles from './artifact.module.css'
import { useNewest, type Variant, type Variants } from './use-artifact.ts'

/** The column beside the history: tags, variants, README. */
export function Aside({
  artifact,
  variants,
  archive,
}: {
  readonly artifact: Artifact
  readonly variants: Variants
  /** Opens the dialog that archives something. */
  readonly archive: (it: Archivable) => void
}) {
  const { slug } = artifact
  return (
    <aside className={styles.aside} aria-label="About it">
      <ArtifactHeader artifact={artifact} />
      <VariantList artifact={artifact} variants={variants} archive={archive} />
      {variants.all.length > 0 && <HeadReadme slug={slug} />}
      <ApiLines
        lines={[
          {
            label: 'Clone with git: any user name, an API key as the password',
            text: cloneCommand(artifact),
          },
          { label: 'What this page shows', text: curlOf(`/workflows/${slug}`) },
          { label: 'Its history', text: curlOf('/workflows/graph', { workflow_ref: { slug } }) },
          {
            label: 'Its deployments',
            text: curlOf('/deployments/query', { deployment: { artifact_slug: slug } }),
          },
        ]}
      />
    </aside>
  )
}

/** Tags and meta of the artifact. */
function ArtifactHeader({ artifact }: { readonly artifact: Artifact }) {
  const { tags = {}, meta, flags = {}, created_at: createdAt, id } = artifact
  // Whether it is a prompt or an evaluator stands beside its name.
  const set = Object.entries(flags).flatMap(([name, isSet]) =>
    isSet === true && !/^is_(application|evaluator)$/.test(name) ? [name.replace('is_', '')] : [],
  )
  return (
    <section aria-label="Header">
      <ul className={styles.tags}>
        {set.map((name) => (
          <li key={`flag ${name}`}>{name}</li>
        ))}
        {Object.entries(tags)
          .slice(0, MOST)
          .map(([name, value]) => (
            <li key={`tag ${name}`} title={`${name}: ${shown(value, 1000)}`}>
              <bdi>{name.slice(0, 60)}</bdi>: <bdi>{shown(value, 60)}</bdi>
            </li>
          ))}
        {Object.keys(tags).length > MOST && <li>{Object.keys(tags).length - MOST} more</li>}
      </ul>
      {meta !== undefined && Object.keys(meta).length > 0 && <JsonView name="meta" value={meta} depth={0} />}
      <p className="muted-small">
        Created <Ago date={createdAt} inSentence /> · <code title="The id">{id}</code>
      </p>
    </section>
  )
}

const MOST = 12

function shown(value: unknown, longest: number): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

interface VariantListProps {
  readonly artifact: Artifact
  readonly variants: Variants
  /** Opens the dialog that archives a variant. */
  readonly archive: (it: Archivable) => void
}

/** The variants, each with its distance from the default one. Archived ones are shown on request. */
function VariantList({ artifact, variants, archive }: VariantListProps) {
  const { all, total, error, isPending, loadMore } = variants
  const [main] = all
  const [showsArchived, setShowsArchived] = useState(false)
  const live = all.filter((it) => it.deleted_at === undefined)
  const shown = showsArchived ? all : live
  const archived = all.length - live.length
  return (
    <section>
      <h2>
        Variants{' '}
        {total !== undefined && <span className={styles.count}>{(total - archived).toLocaleString()}</span>}
      </h2>
      {error && <Failure error={error} />}
      {isPending && <Skeleton label="Loading the variants" lines={3} />}
      {!isPending && all.length === 0 && (
        <p className="muted-small">None yet. The first version makes one.</p>
      )}
      <ul className={styles.variants}>
        {shown.map((variant) => (
          <VariantLine key={variant.id} artifact={artifact} variant={variant} main={main} archive={archive} />
        ))}
      </ul>
      {loadMore && (
        <Button kind="quiet" onClick={loadMore}>
          {((total ?? all.length) - all.length).toLocaleString()} more
        </Button>
      )}
      {archived > 0 && <ArchivedToggle isOn={showsArchived} onChange={setShowsArchived} count={archived} />}
    </section>
  )
}

interface VariantLineProps {
  readonly artifact: Artifact
  readonly variant: Variant
  readonly main: Variant | undefined
  readonly archive: (it: Archivable) => void
}

function VariantLine({ artifact, variant, main, archive }: VariantLineProps) {
  const { ref, isSeen } = useSeen<HTMLLIElement>()
  const mayNotWrite = useRefusal('write')
  const { slug } = artifact
  const isMain = variant.id === main?.id
  const isArchived = variant.deleted_at !== undefined
  const own: Archivable = {
    ...{ level: 'variant', family: 'workflows', id: variant.id, artifact: slug, variant: variant.slug },
    word: artifactKind(artifact).word,
  }
  return (
    <li ref={ref}>
      <GitBranch size={14} aria-hidden />
      <Link to={places.version(slug, variant.slug)} className={styles.variantName} title={variant.slug}>
        {variant.slug}
      </Link>
      {isMain && <span className={styles.badge}>default</span>}
      {isArchived && <ArchivedBadge />}
      <span className={isArchived ? styles.gap : styles.distance}>
        {isSeen && main && !isMain && !isArchived && <Distance slug={slug} main={main} variant={variant} />}
      </span>
      {isArchived ? (
        <BringBack it={own} isShort />
      ) : (
        <>
          <span className={styles.when}>{isSeen && <HeadDate slug={slug} variant={variant} />}</span>
          <Menu
            isSmall
            label={<span className="visually-hidden">Variant {variant.slug}</span>}
            title={`Actions for the variant ${variant.slug}`}
            items={[
              { label: `Edit ${variant.slug}`, to: places.edit(slug, variant.slug), refusal: mayNotWrite },
              {
                label: `Archive the variant ${variant.slug} …`,
                refusal: mayNotWrite,
                run: () => archive(own),
              },
            ]}
          />
        </>
      )}
    </li>
  )
}

/** The date of the variant's newest version. */
function HeadDate({ slug, variant }: { readonly slug: string; readonly variant: Variant }) {
  const { data } = useRoute('POST /workflows/revisions/log', {
    body: { workflow_ref: { slug }, workflow_variant_ref: { slug: variant.slug }, depth: 1 },
  })
  const date = data?.workflow_revisions[0]?.date
  return date === undefined ? null : <Ago date={date} />
}

/** How many revisions the variant is ahead of and behind the default one, with a link to the comparison. */
function Distance({
  slug,
  main,
  variant,
}: {
  readonly slug: string
  readonly main: Variant
  readonly variant: Variant
}) {
  const { data, error } = useRoute('POST /workflows/variants/compare', {
    body: { base: { variant: { id: main.id } }, head: { variant: { id: variant.id } } },
  })
  if (error) return <span title={error.message}>–</span>
  if (!data) return <span className="muted-small">…</span>
  const { ahead, behind } = data.compare
  const said = `${ahead.toLocaleString()} ahead of ${main.slug}, ${behind.toLocaleString()} behind`
  return (
    <Link to={places.compare(slug, `v:${main.slug}`, `v:${variant.slug}`)} title={said}>
      <span aria-hidden>
        ↑{ahead.toLocaleString()} ↓{behind.toLocaleString()}
      </span>
      <span className="visually-hidden">{said}</span>
    </Link>
  )
}

const Markdown = lazy(() => import('../../parts/markdown/markdown.tsx'))

/** Longer READMEs are not shown here. */
const LONGEST = 200_000

/** The README of the default variant's head, if any. */
function HeadReadme({ slug }: { readonly slug: string }) {
  const id = useNewest(slug)?.id
  const files = useRoute(
    'GET /workflows/revisions/{id}/files',
    { path: { id: id ?? '' }, query: {} },
    { enabled: id !== undefined, immutable: true },
  )
  const readme = files.data?.files.find(({ path }) => /^readme(?:\.(?:md|markdown|txt))?$/i.test(path))
  const isShort = readme !== undefined && readme.size <= LONGEST
  const text = useRoute(
    'GET /workflows/revisions/{id}/files/{path}',
    { path: { id: id ?? '', path: readme?.path ?? '' } },
    { enabled: isShort, immutable: true },
  )
  if (!readme) return null
  return (
    <section aria-label={readme.path}>
      <h2>{readme.path}</h2>
      {!isShort && (
        <p className="muted-small">
          It is {readme.size.toLocaleString()} bytes long. Clone the repository to read it.
        </p>
      )}
      {isShort && text.data === undefined && <Skeleton label="Loading the README" lines={4} />}
      {typeof text.data === 'string' && (
        <Suspense fallback={<Skeleton label="Loading the README" lines={4} />}>
          <Markdown text={text.data} />
        </Suspense>
      )}
    </section>
  )
}
