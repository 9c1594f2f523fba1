// Content shared by both fixtures (own work; names and behaviour follow the suite's scenario descriptions).
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
export const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
export const sleep = ms => new Promise(r => setTimeout(r, ms));
export const text = t => ({ content: [{ type: 'text', text: t }] });
const obj = (properties = {}, required) => ({ type: 'object', properties, ...(required ? { required } : {}) });
const str = d => ({ type: 'string', description: d });
export const nameSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

// Static results, identical in both eras.
export const STATIC = {
  test_simple_text: () => text('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [
      {
        type: 'resource',
        resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' },
      },
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' },
      },
    ],
  }),
  test_error_handling: () => ({ isError: true, content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }] }),
  json_schema_2020_12_tool: a => text(`ok ${JSON.stringify(a)}`),
  test_x_mcp_header: a => text(`region=${a.region}`),
  greet: a => text(`Hello, ${a.name ?? 'World'}!`),
};
export const JSON_SCHEMA_2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};
// Elicitation schemas both eras use.
export const ELICIT = {
  test_elicitation: a => ({
    mode: 'form',
    message: a.message ?? 'Please provide your information',
    requestedSchema: {
      type: 'object',
      properties: { username: str("User's response"), email: str("User's email address") },
      required: ['username', 'email'],
    },
  }),
  test_elicitation_sep1034_defaults: () => ({
    mode: 'form',
    message: 'Please review the defaults',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'User name', default: 'John Doe' },
        age: { type: 'integer', description: 'User age', default: 30 },
        score: { type: 'number', description: 'User score', default: 95.5 },
        status: { type: 'string', description: 'User status', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', description: 'Verification status', default: true },
      },
      required: [],
    },
  }),
  test_elicitation_sep1330_enums: () => ({
    mode: 'form',
    message: 'Please select options',
    requestedSchema: {
      type: 'object',
      properties: {
        untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
        titledSingle: {
          type: 'string',
          oneOf: [
            { const: 'value1', title: 'First Option' },
            { const: 'value2', title: 'Second Option' },
            { const: 'value3', title: 'Third Option' },
          ],
        },
        legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
        untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
        titledMulti: {
          type: 'array',
          items: {
            anyOf: [
              { const: 'value1', title: 'First Choice' },
              { const: 'value2', title: 'Second Choice' },
              { const: 'value3', title: 'Third Choice' },
            ],
          },
        },
      },
      required: [],
    },
  }),
};
const T = (name, description, inputSchema = obj(), extra = {}) => ({ name, description, inputSchema, ...extra });
// taskSupport is rendered as execution.taskSupport by the legacy fixture and kept internal by the modern one.
export const TASK_SUPPORT = {
  slow_compute: 'optional',
  failing_job: 'required',
  protocol_error_job: 'required',
  confirm_delete: 'required',
  write_haiku: 'required',
  multi_input: 'required',
  test_tool_with_task: 'required',
};
export const TOOLS = [
  T('test_simple_text', 'Simple text'),
  T('test_image_content', 'Image content'),
  T('test_audio_content', 'Audio content'),
  T('test_embedded_resource', 'Embedded resource'),
  T('test_multiple_content_types', 'Mixed content'),
  T('test_tool_with_logging', 'Emits three info log messages'),
  T('test_tool_with_progress', 'Emits three progress notifications'),
  T('test_error_handling', 'Always a tool error'),
  T('test_sampling', 'Asks the client for a completion', obj({ prompt: str('The prompt') }, ['prompt'])),
  T('test_elicitation', 'Asks the user for input', obj({ message: str('The message') }, ['message'])),
  T('test_elicitation_sep1034_defaults', 'Elicitation with defaults'),
  T('test_elicitation_sep1330_enums', 'Elicitation with enums'),
  T('test_reconnection', 'SSE polling test'),
  T('json_schema_2020_12_tool', 'JSON Schema 2020-12 keywords', JSON_SCHEMA_2020),
  T(
    'test_x_mcp_header',
    'Mirrors a parameter into an HTTP header',
    obj({ region: { type: 'string', description: 'Region', 'x-mcp-header': 'Region' } }, ['region']),
  ),
  T('test_missing_capability', 'Needs the sampling capability'),
  T('test_streaming_elicitation', 'Asks for input on the stream'),
  T('test_logging_tool', 'Logs once'),
  T('test_trigger_tool_change', 'Publishes tools list_changed'),
  T('test_trigger_prompt_change', 'Publishes prompts list_changed'),
  ...['elicitation', 'sampling', 'list_roots', 'request_state', 'multiple_inputs', 'multi_round', 'tampered_state', 'capabilities'].map(n =>
    T(`test_input_required_result_${n}`, `Input required: ${n}`),
  ),
  T('greet', 'Greets (never a task)', obj({ name: str('Name') }, ['name'])),
  T('slow_compute', 'Sleeps, then answers', obj({ seconds: { type: 'integer' }, label: { type: 'string' } })),
  T('failing_job', 'Tool error after 1 s'),
  T('protocol_error_job', 'JSON-RPC error after 0.5 s'),
  T('confirm_delete', 'Elicits once', obj({ filename: { type: 'string' } })),
  T('write_haiku', 'Asks the model for a haiku', obj({ topic: { type: 'string' } })),
  T('multi_input', 'Elicits twice at the same time'),
  T('test_tool_with_task', 'Elicits a name, then works slowly'),
];
export const RESOURCES = [
  { uri: 'test://static-text', name: 'static-text', description: 'A static text resource', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static-binary', description: 'A static binary resource', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'watched-resource', description: 'Changes every 3 s', mimeType: 'text/plain' },
];
export const TEMPLATES = [
  { uriTemplate: 'test://template/{id}/data', name: 'template', description: 'A template', mimeType: 'application/json' },
];
export function readResource(uri) {
  if (uri === 'test://static-text')
    return { contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }] };
  if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: PNG }] };
  if (uri === 'test://watched-resource')
    return { contents: [{ uri, mimeType: 'text/plain', text: `Watched at ${new Date().toISOString()}` }] };
  const m = /^test:\/\/template\/([^/]+)\/data$/.exec(uri ?? '');
  if (m)
    return {
      contents: [
        { uri, mimeType: 'application/json', text: JSON.stringify({ id: m[1], templateTest: true, data: `Data for ID: ${m[1]}` }) },
      ],
    };
}
export const PROMPTS = [
  { name: 'test_simple_prompt', description: 'A simple prompt' },
  {
    name: 'test_prompt_with_arguments',
    description: 'A prompt with arguments',
    arguments: [
      { name: 'arg1', description: 'First', required: true },
      { name: 'arg2', description: 'Second', required: true },
    ],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt with a resource',
    arguments: [{ name: 'resourceUri', description: 'URI', required: true }],
  },
  { name: 'test_prompt_with_image', description: 'A prompt with an image' },
  { name: 'test_input_required_result_prompt', description: 'A prompt that elicits context' },
];
const um = content => ({ role: 'user', content });
export function getPrompt(name, a = {}) {
  if (name === 'test_simple_prompt') return { messages: [um({ type: 'text', text: 'This is a simple prompt for testing.' })] };
  if (name === 'test_prompt_with_arguments')
    return { messages: [um({ type: 'text', text: `Prompt with arguments: arg1='${a.arg1}', arg2='${a.arg2}'` })] };
  if (name === 'test_prompt_with_embedded_resource')
    return {
      messages: [
        um({ type: 'resource', resource: { uri: a.resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } }),
        um({ type: 'text', text: 'Please process the embedded resource above.' }),
      ],
    };
  if (name === 'test_prompt_with_image')
    return {
      messages: [um({ type: 'image', data: PNG, mimeType: 'image/png' }), um({ type: 'text', text: 'Please analyze the image above.' })],
    };
}
export const COMPLETION = { completion: { values: [], total: 0, hasMore: false } };
export const hostOk = req => {
  const h = s =>
    (s ?? '')
      .replace(/^https?:\/\//, '')
      .replace(/:\d+$/, '')
      .toLowerCase();
  const ok = s => ['localhost', '127.0.0.1', '[::1]'].includes(h(s));
  return ok(req.headers.host) && (!req.headers.origin || ok(req.headers.origin));
};
export const body = async req => {
  const c = [];
  for await (const x of req) c.push(x);
  return Buffer.concat(c).toString('utf8');
};
