import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { Problem } from '../../api/call.ts'
import { membersOf } from '../../api/json.ts'
import { type Artifact, artifactKind, type Revision } from '../../api/kinds.ts'
import { useRoute } from '../../api/use-route.ts'
import { type Archivable, ArchivedBadge, ArchiveDialog, ArchivedNote } from '../../parts/archive/archive.tsx'
import { Button, LinkButton } from '../../parts/button/button.tsx'
import { EnvironmentDot, WorkflowChip } from '../../parts/chips/chips.tsx'
import { type End, endOf, textOfEnd } from '../../parts/compare/ends.ts'
import { ContentView } from '../../parts/content/content.tsx'
import { nameOfPicked, RevisionField } from '../../parts/deploy/revision-field.tsx'
import { useEnvironments, versionsBehind } from '../../parts/deploy/use-deployments.ts'
import { Menu, type MenuItem } from '../../parts/menu/menu.tsx'
import { useNaming } from '../../parts/naming/naming.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Failure, NotThere, Skeleton } from '../../parts/states/states.tsx'
import { Fold } from '../../parts/text/text.tsx'
import { Toggles } from '../../parts/tabs/tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/live.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import styles from './artifact.module.css'
import { Aside } from './aside.tsx'
import { PromptFacts } from './facts.tsx'
import { ForkDialog, type ForkPoint } from './fork-dialog.tsx'
import type { HeaderAct } from './header-dialogs.tsx'
import { History, useCommits } from './history.tsx'
import { type Shown, useShown, useVariants, type Variant } from './use-artifact.ts'
import { UseInCode } from './use-in-code.tsx'

/** Loaded when one is opened: they bring the diff and the forms. */
const DeploySheet = lazy(() =>
  import('../../parts/deploy/deploy-sheet.tsx').then((module) => ({ default: module.DeploySheet })),
)
const HeaderDialog = lazy(() => import('./header-dialogs.tsx'))

/** A prompt, an evaluator or a workflow: what it says, where it is deployed, how code gets it, and its history as a graph. */
export default function ArtifactPage() {
  const { slug = '' } = useParams({ strict: false })
  const { data, error, refetch } = useRoute('GET /workflows/{id}', { path: { id: slug } })
  // Asked at once, not only when the artifact is there.
  useCommits(slug)
  useEnvironments()
  useShown(slug, useVariants(slug).all[0])
  if (data) return <ArtifactView key={data.workflow.id} artifact={data.workflow} />
  return (
    <Page crumbs={[{ label: slug }]}>
      {error instanceof Problem && error.status === 404 ? (
        <NotThere problem={error} placeOf={places.artifact} />
      ) : error ? (
        <Failure error={error} retry={refetch} />
      ) : (
        <Skeleton label={`Loading ${slug}`} lines={16} />
      )}
    </Page>
  )
}

/** The page of an existing artifact. `?shown=` names the version; `?deploy=1` opens the sheet that deploys, with `?to=` and `?what=`. */
function ArtifactView({ artifact }: { readonly artifact: Artifact }) {
  const { slug, name, deleted_at: archivedAt } = artifact
  const { word, title, list } = artifactKind(artifact)
  const search = useAddress()
  const navigate = useNavigate()
  const variants = useVariants(slug)
  const [main] = variants.all
  const shown = useShown(slug, main)
  const { end, revision } = shown
  const [dialog, setDialog] = useState<Opened>()
  const mayNotWrite = useRefusal('write')
  const mayNotRun = useRefusal('invoke')
  const isArchived = archivedAt !== undefined
  const own: Archivable = { level: 'artifact', family: 'workflows', id: artifact.id, artifact: slug, word }
  const archivedRefusal = isArchived ? `The ${word} is archived: bring it back first.` : undefined
  const isLoading = variants.isPending || (end !== undefined && !shown.error)
  const noVersion = revision ? undefined : isLoading ? 'Still loading.' : `The ${word} has no version yet.`
  const write = archivedRefusal ?? mayNotWrite
  const live = variants.all.filter((it) => it.deleted_at === undefined)
  const edited = revision && end?.kind === 'variant' ? revision.variant_slug : (main?.slug ?? slug)
  const close = (): void => setDialog(undefined)
  const change = (more: Readonly<Record<string, string | undefined>>, replace = false): void =>
    void navigate({ to: places.artifact(slug), search: { ...search, ...more } as never, replace })
  const deploy = (what: End | undefined): void => {
    const chosen = what ?? end
    change({ deploy: '1', what: chosen && textOfEnd(chosen) })
  }
  const comparison = comparisonOf(slug, shown, main)
  const evaluation: Readonly<Record<string, string>> =
    word === 'evaluator'
      ? { new: '1', evaluators: slug }
      : {
          ...{ new: '1', prompt: slug },
          ...(revision && { variant: revision.variant_slug, version: String(revision.version) }),
        }
  const canEvaluate = word === 'prompt' || word === 'evaluator'
  const at = end?.kind === 'variant' ? '' : `@${revision?.version}`
  const tried: Readonly<Record<string, string>> = revision ? { left: `v:${revision.variant_slug}${at}` } : {}
  const naming = useNaming({ ...artifact, family: 'workflows' }, write)
  const more: readonly (MenuItem & { readonly run: () => void })[] = [
    {
      label: 'Merge …',
      refusal: write ?? (live.length < 2 ? `There is one variant. Make a new variant first.` : undefined),
      run: () => setDialog({ is: 'header', act: 'merge' }),
    },
    {
      label: 'Compare',
      refusal: comparison === undefined ? 'There is one version: nothing to compare it with.' : undefined,
      run: () => comparison !== undefined && void navigate({ to: comparison }),
    },
    {
      label: 'New variant …',
      refusal: write ?? noVersion,
      run: () => revision && setDialog({ is: 'fork', at: forkPointOf(revision, end) }),
    },
    {
      label: 'Duplicate …',
      refusal: mayNotWrite ?? noVersion,
      run: () => setDialog({ is: 'header', act: 'duplicate' }),
    },
    ...naming.items,
    {
      label: `Archive the ${word} …`,
      refusal: isArchived ? `The ${word} is archived.` : mayNotWrite,
      run: () => setDialog({ is: 'archive', it: own }),
    },
    { label: 'Delete …', refusal: mayNotWrite, run: () => setDialog({ is: 'header', act: 'delete' }) },
  ]

  useCommands([
    {
      id: 'edit',
      title: `Edit ${edited}`,
      keys: 'e',
      refusal: write,
      run: () => void navigate({ to: places.edit(slug, edited) }),
    },
    {
      id: 'try',
      title: `Try ${slug}`,
      keys: 't',
      refusal: noVersion,
      run: () => void navigate({ to: places.run(slug), search: tried as never }),
    },
    ...(canEvaluate
      ? [
          {
            id: 'evaluate',
            title: `Evaluate ${slug}`,
            keys: 'v',
            refusal: mayNotRun ?? noVersion,
            run: () => void navigate({ to: places.evaluations(), search: evaluation as never }),
          },
        ]
      : []),
    ...more
      .filter((it) => !naming.items.some(({ label }) => label === it.label))
      .map(({ label, refusal, run }) => ({
        id: `more ${label}`,
        title: label.replace(/ …$/, ''),
        refusal,
        run,
      })),
  ])

  return (
    <Page
      crumbs={[
        { label: title, to: places.home(list), siblings: { of: 'families' } },
        { label: slug, siblings: { of: 'artifacts', family: list } },
      ]}
      about={
        <>
          <span className={styles.badge}>{word}</span>
          {name !== undefined && name !== slug && <bdi className={styles.name}>{name.slice(0, 200)}</bdi>}
        </>
      }
      actions={
        <>
          <Menu label="More" title={`Actions for the ${word}`} items={more} />
          <Button refusal={noVersion} onClick={() => deploy(undefined)}>
            Deploy …
          </Button>
          {canEvaluate && (
            <LinkButton to={places.evaluations()} search={evaluation} refusal={mayNotRun ?? noVersion}>
              Evaluate …
            </LinkButton>
          )}
          <LinkButton to={places.run(slug)} search={tried} refusal={noVersion}>
            Try
          </LinkButton>
          <LinkButton to={places.edit(slug, edited)} kind="primary" refusal={write}>
            Edit <span className="visually-hidden">{edited}</span>
          </LinkButton>
        </>
      }
      wide
    >
      <NewsLine concerns={({ references }) => Object.values(references).some((it) => it?.slug === slug)} />
      {isArchived && <ArchivedNote it={own} />}
      {artifact.description !== undefined && artifact.description !== '' && (
        <div className={styles.description} dir="auto">
          <Fold text={artifact.description} lines={3} />
        </div>
      )}
      <div className={styles.columns}>
        <PromptSection
          slug={slug}
          word={word}
          main={main}
          shown={shown}
          show={(to) => change({ shown: textOfEnd(to) }, true)}
        />
        {variants.all.length > 0 && (
          <PromptFacts artifact={artifact} shown={shown}>
            {revision && <UseInCode artifact={artifact} shown={shown} revision={revision} />}
          </PromptFacts>
        )}
        <History
          artifact={artifact}
          main={main}
          ready={!variants.isPending}
          fork={(at) => setDialog({ is: 'fork', at })}
          forkRefusal={write}
          deploy={deploy}
          archive={(it) => setDialog({ is: 'archive', it })}
        />
        <Aside artifact={artifact} variants={variants} archive={(it) => setDialog({ is: 'archive', it })} />
      </div>
      <Suspense>
        {search['deploy'] !== undefined && (
          <DeploySheet
            artifact={slug}
            to={search['to']}
            what={search['what'] === undefined ? end : endOf(search['what'])}
            choose={(what) => change({ what: textOfEnd(what) }, true)}
            chooseTo={(to) => change({ to }, true)}
            close={() => change({ deploy: undefined, to: undefined, what: undefined })}
          />
        )}
        {dialog?.is === 'header' && (
          <HeaderDialog
            act={dialog.act}
            artifact={artifact}
            revision={revision}
            variants={live}
            close={close}
          />
        )}
      </Suspense>
      {naming.dialogs}
      {dialog?.is === 'fork' && <ForkDialog slug={slug} point={dialog.at} close={close} />}
      {dialog?.is === 'archive' && <ArchiveDialog it={dialog.it} close={close} />}
    </Page>
  )
}

/** The dialog that is open. */
type Opened =
  | { readonly is: 'header'; readonly act: HeaderAct }
  | { readonly is: 'fork'; readonly at: ForkPoint }
  | { readonly is: 'archive'; readonly it: Archivable }

/** The head of a variant that is shown as such; else the version itself. */
function forkPointOf({ variant_slug: variant, version }: Revision, end: End | undefined): ForkPoint {
  return end?.kind === 'variant' ? { variant } : { variant, version: Number(version) }
}

/** From the version that is shown to the newest one; from the version before, if it is the newest itself. */
function comparisonOf(slug: string, { end, revision, newest }: Shown, main: Variant | undefined) {
  if (!revision || !main) return undefined
  const { variant_slug: variant } = revision
  const version = Number(revision.version)
  if (variant !== main.slug || version !== newest)
    return places.compare(slug, end ? textOfEnd(end) : `r:${revision.slug}`, `v:${main.slug}`)
  return version < 2 ? undefined : places.compare(slug, `r:${variant}-${version - 1}`, `v:${main.slug}`)
}

interface PromptSectionProps {
  readonly slug: string
  /** What users call it: prompt, evaluator. */
  readonly word: string
  readonly main: Variant | undefined
  readonly shown: Shown
  readonly show: (end: End) => void
}

/** The content of one version, with a switch between what environments run, the newest, and any other version. */
function PromptSection({ slug, word, main, shown, show }: PromptSectionProps) {
  const { end, revision, error, deployments, newest } = shown
  const value = end && textOfEnd(end)
  const title = `${word.charAt(0).toUpperCase()}${word.slice(1)}`
  const usual = [
    ...deployments.flatMap(({ environment: { slug: name }, revision: running }) =>
      running
        ? [{ value: textOfEnd({ kind: 'environment', slug: name }), label: `${name} v${running.version}` }]
        : [],
    ),
    ...(main
      ? [
          {
            value: textOfEnd({ kind: 'variant', slug: main.slug }),
            label: `Newest${newest === undefined ? '' : ` v${newest}`}`,
          },
        ]
      : []),
  ]
  const isUsual = usual.some((it) => it.value === value)
  const ofOther = main && revision?.variant_slug !== main.slug ? ` of ${revision?.variant_slug}` : ''
  const nameOfOther =
    end && (end.kind === 'revision' && revision ? `v${revision.version}${ofOther}` : nameOfPicked(end))
  const choices = isUsual || value === undefined ? usual : [...usual, { value, label: nameOfOther ?? value }]
  if (!end && !error) return main ? <Skeleton label={`Loading the ${word}`} lines={12} /> : null
  return (
    <section className={styles.prompt} aria-label={title}>
      <div className={styles.switch}>
        <Toggles
          label="Version shown"
          choices={choices}
          value={value ?? ''}
          onChange={(it) => {
            const to = endOf(it)
            if (to) show(to)
          }}
        />
        <div className={styles.other}>
          <RevisionField label="Other version" artifact={slug} shown="" choose={show} except={undefined} />
        </div>
      </div>
      {error && <Failure error={error} />}
      {!revision && !error && <Skeleton label={`Loading the ${word}`} lines={12} />}
      {revision && (
        <>
          <ShownVersion slug={slug} revision={revision} end={end} shown={shown} main={main} />
          <ContentView data={membersOf(revision.data)} isBrief />
        </>
      )}
    </section>
  )
}

interface ShownVersionProps {
  readonly slug: string
  readonly revision: Revision
  readonly end: End | undefined
  readonly shown: Shown
  readonly main: Variant | undefined
}

/** Which version it is, where it runs, and how far it is behind the newest. */
function ShownVersion({ slug, revision, end, shown: { deployments, newest }, main }: ShownVersionProps) {
  const isOfMain = revision.variant_slug === main?.slug
  const behind = isOfMain && newest !== undefined ? newest - Number(revision.version) : 0
  return (
    <p className={styles.shown}>
      <WorkflowChip artifact={slug} revision={revision} />
      {!isOfMain && <span>of {revision.variant_slug}</span>}
      {revision.deleted_at !== undefined && <ArchivedBadge />}
      {deployments
        .filter((it) => it.revision?.id === revision.id && it.environment.slug !== end?.slug)
        .map(({ environment }) => (
          <EnvironmentDot key={environment.slug} slug={environment.slug} />
        ))}
      {behind > 0 && (
        <Link
          to={places.compare(slug, `r:${revision.slug}`, `v:${main?.slug ?? ''}`)}
          className={styles.behind}
        >
          {versionsBehind(behind)}
        </Link>
      )}
      <bdi className={styles.subjectShown}>{revision.subject.slice(0, 300)}</bdi>
    </p>
  )
}
