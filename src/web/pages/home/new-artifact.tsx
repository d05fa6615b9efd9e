import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { FormDialog } from '../../parts/dialog/form-dialog.tsx'
import { ChoiceField } from '../../parts/fields/choice-field.tsx'
import { TextField } from '../../parts/fields/text-field.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { places } from '../../shell/places.ts'
import type { Family } from './families.ts'

/** Makes an artifact: a prompt or an evaluator from a template, a testset without rows. */
export function NewArtifact({ family }: { readonly family: Family }) {
  const [isOpen, setOpen] = useState(false)
  const title = `New ${family.one}`
  useCommands([{ id: 'new', title, keys: 'n', run: () => setOpen(true) }])
  return (
    <>
      <Button kind="primary" needs="write" onClick={() => setOpen(true)}>
        {title}
      </Button>
      {isOpen && <Form family={family} title={title} close={() => setOpen(false)} />}
    </>
  )
}

interface FormProps {
  readonly family: Family
  readonly title: string
  readonly close: () => void
}

function Form({ family, title, close }: FormProps) {
  const [slug, setSlug] = useState('')
  const [name, setName] = useState('')
  const hasTemplates = family.kind !== 'testsets'
  const [template, setTemplate] = useState(family.kind === 'evaluators' ? 'auto_exact_match' : 'completion')
  const navigate = useNavigate()
  const testset = useWrite('POST /simple/testsets')
  const evaluator = useWrite('POST /simple/evaluators')
  const application = useWrite('POST /simple/applications')
  const templates = useRoute(
    `GET /${family.kind === 'evaluators' ? 'evaluators' : 'applications'}/catalog/templates`,
    {},
    { enabled: hasTemplates },
  )
  async function create(): Promise<void> {
    const header = { slug: slug.trim(), ...(name.trim() === '' ? {} : { name: name.trim() }) }
    if (family.kind === 'testsets') {
      await testset.mutateAsync({ body: { testset: header } })
      await navigate({ to: places.testset(header.slug) })
      return
    }
    const made = { ...header, template }
    await (family.kind === 'evaluators'
      ? evaluator.mutateAsync({ body: { evaluator: made } })
      : application.mutateAsync({ body: { application: made } }))
    await navigate({ to: places.artifact(header.slug) })
  }

  return (
    <FormDialog
      title={title}
      action={`Create ${slug.trim() || family.one}`}
      needs="write"
      refusal={slug.trim() === '' ? 'Give it an ID first: what code and links call it.' : undefined}
      submit={create}
      close={close}
    >
      {(problemOf) => (
        <>
          <TextField
            label="ID"
            value={slug}
            onChange={setSlug}
            hint="Used in code and links: letters, digits, _ . and -. It can’t be changed later."
            problem={problemOf('slug')}
            autoFocus
          />
          <TextField label="Name" value={name} onChange={setName} problem={problemOf('name')} />
          {hasTemplates && (
            <ChoiceField
              label="Template"
              value={template}
              choices={(templates.data?.templates ?? []).map((it) => ({
                value: it.key,
                label: it.name ?? it.key,
              }))}
              onChange={setTemplate}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}
