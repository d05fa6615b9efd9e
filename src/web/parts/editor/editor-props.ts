import type { TemplateFormat } from '../../../run/templates/template-variables.ts'

/** The props of an editor. */
export interface EditorProps {
  /** The name of the field for screen readers. */
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly language: EditorLanguage
  /** For a template: the format of its variables. */
  readonly format?: TemplateFormat
  /** For a template: the names to complete after the braces. */
  readonly names?: readonly string[]
  readonly readOnly?: boolean
  /** The ID of the element that explains the field. */
  readonly describedBy?: string | undefined
  /** Why the text cannot be accepted. */
  readonly problem?: string | undefined
}

export type EditorLanguage = 'template' | 'json' | 'javascript' | 'typescript' | 'python'
