import { useParams, useNavigate, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Problem } from '../../api/call.ts'
import { type Artifact, artifactKind, type Revision } from '../../api/kinds.ts'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { type Archivable, ArchiveDialog, ArchivedNote } from '../../parts/archive/archive.tsx'
import { Button, LinkButton } from '../../parts/button/button.tsx'
import { type End, endOf, textOfEnd } from '../../parts/compare/ends.ts'
import { DeploySheet } from '../../parts/deploy/deploy-sheet.tsx'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { Menu, type MenuItem } from '../../parts/menu/menu.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Failure, NotThere, Skeleton } from '../../parts/states/states.tsx'
import { Fold } from '../../parts/text/text.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/live.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import styles from './artifact.module.css'
import { Aside } from './aside.tsx'
import { PromptFacts } from './facts.tsx'
import { ForkDialog, type ForkPoint } from './fork-dialog.tsx'
import { DuplicateDialog, MergeDialog, RenameDialog, TagsDialog } from './header-dialogs.tsx'
import { History } from './history.tsx'
import { PromptSection } from './prompt.tsx'
import { type Shown, useShown, useVariants, type Variant } from './use-artifact.ts'
import { UseInCode } from './use-in-code.tsx'

/** A prompt, an evaluator or a workflow: what it says, where it is deployed, how code gets it, and its history as a graph. */
export default function ArtifactPage() {
  const { slug = '' } = useParams({ strict: false })
  const { data, error, refetch } = useRoute('GET /workflows/{id}', { path: { id: slug } })
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
  const noVersion = revision ? undefined : `The ${word} has no version yet.`
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
  const more: readonly (MenuItem & { readonly run: () => void })[] = [
    {
      label: 'Merge …',
      refusal: write ?? (live.length < 2 ? `There is one variant. Make a new variant first.` : undefined),
      run: () => setDialog({ is: 'merge' }),
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
    { label: 'Duplicate …', refusal: mayNotWrite ?? noVersion, run: () => setDialog({ is: 'duplicate' }) },
    { label: 'Rename …', refusal: write, run: () => setDialog({ is: 'rename' }) },
    { label: 'Tags …', refusal: write, run: () => setDialog({ is: 'tags' }) },
    {
      label: `Archive the ${word} …`,
      refusal: isArchived ? `The ${word} is archived.` : mayNotWrite,
      run: () => setDialog({ is: 'archive', it: own }),
    },
    { label: 'Delete …', refusal: mayNotWrite, run: () => setDialog({ is: 'delete' }) },
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
    ...more.map(({ label, refusal, run }) => ({
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
      {dialog?.is === 'fork' && <ForkDialog slug={slug} point={dialog.at} close={close} />}
      {dialog?.is === 'merge' && (
        <MergeDialog slug={slug} variants={live} from={revision?.variant_slug ?? ''} close={close} />
      )}
      {dialog?.is === 'duplicate' && revision && (
        <DuplicateDialog artifact={artifact} revision={revision} close={close} />
      )}
      {dialog?.is === 'rename' && <RenameDialog artifact={artifact} close={close} />}
      {dialog?.is === 'tags' && <TagsDialog artifact={artifact} close={close} />}
      {dialog?.is === 'archive' && <ArchiveDialog it={dialog.it} close={close} />}
      {dialog?.is === 'delete' && <DeleteDialog artifact={artifact} close={close} />}
    </Page>
  )
}

/** The dialog that is open. */
type Opened =
  | { readonly is: 'merge' | 'duplicate' | 'rename' | 'tags' | 'delete' }
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

/** Moves the artifact to the trash, unless something uses it; lists what does. */
function DeleteDialog({ artifact, close }: { readonly artifact: Artifact; readonly close: () => void }) {
  const { slug } = artifact
  const { word, list } = artifactKind(artifact)
  const navigate = useNavigate()
  const remove = useWrite('DELETE /simple/workflows/{id}')
  const users = remove.error instanceof Problem ? remove.error.document['users'] : undefined
  return (
    <FormDialog
      title={`Delete ${slug}`}
      action={`Delete ${slug}`}
      kind="danger"
      needs="write"
      submit={() =>
        remove
          .mutateAsync({ path: { id: artifact.id } })
          .then(() => navigate({ to: '/', search: { kind: list } as never }))
      }
      close={close}
    >
      <p>
        The {word} and its history move to the trash, from which you can bring them back for 30 days. If
        something refers to it, archive it instead: that hides it and keeps everything working.
      </p>
      {Array.isArray(users) && (
        <ul className={styles.users}>
          <Users users={users} />
        </ul>
      )}
    </FormDialog>
  )
}

/** The users of an artifact, from 409 `in_use`, with links to their pages. */
function Users({ users }: { readonly users: readonly unknown[] }) {
  return users.slice(0, MOST).map((user, at) => {
    const { kind, id, slug } = user as Readonly<Record<string, string | undefined>>
    const to = placeOf(kind, id, slug)
    const name = slug ?? id ?? ''
    return (
      <li key={at}>
        {kind} {to === undefined ? name : <Link to={to}>{name}</Link>}
      </li>
    )
  })
}

const MOST = 50

function placeOf(kind = '', id = '', slug = ''): string | undefined {
  if (kind === 'trace') return places.trace(id)
  if (kind === 'evaluation') return places.evaluation(id)
  if (kind === 'webhook') return places.settings('webhooks')
  if (kind === 'fork') return places.artifact(slug)
  if (kind === 'deployment') return places.environment(slug)
  return undefined
}
