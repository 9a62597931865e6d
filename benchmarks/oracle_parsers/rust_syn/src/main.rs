//! What syn sees in Rust files: one line of JSON per definition. Paths come on standard input.
//!
//! Tokens in the braces of a macro call are read as items where they are items. Such are optional: the compiler
//! may see something else there, and no parser can know. Other macro calls and the bodies of macros are "blind":
//! whatever stands there is not compared.
use std::io::{self, BufRead};

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

struct Finder {
    path: String,
    methods: bool,
    optional: bool,
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if (c as u32) < 0x20 => quoted += &format!("\\u{:04x}", c as u32),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

impl Finder {
    fn emit(&self, name: &str, kind: &str, first: Span, all: Span) {
        println!(
            "{{\"path\": {}, \"name\": {}, \"kind\": \"{}\", \"line\": {}, \"end\": {}, \"optional\": {}}}",
            quoted(&self.path), quoted(name), kind, first.start().line, all.end().line, self.optional
        );
    }

    fn within(&mut self, methods: bool, walk: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.methods, methods);
        walk(self);
        self.methods = before;
    }
}

/// The first token of an item that belongs to no attribute.
fn first(vis: &syn::Visibility, otherwise: Span) -> Span {
    match vis {
        syn::Visibility::Inherited => otherwise,
        vis => vis.span(),
    }
}

fn first_of_signature(signature: &syn::Signature) -> Span {
    let parts = [
        signature.constness.as_ref().map(|x| x.span()),
        signature.asyncness.as_ref().map(|x| x.span()),
        signature.unsafety.as_ref().map(|x| x.span()),
        signature.abi.as_ref().map(|x| x.extern_token.span()),
    ];
    parts.into_iter().flatten().next().unwrap_or(signature.fn_token.span())
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let kind = if self.methods { "method" } else { "function" };
        self.emit(&item.sig.ident.to_string(), kind, first(&item.vis, first_of_signature(&item.sig)), item.span());
        self.within(false, |this| visit::visit_item_fn(this, item));
    }
    fn visit_impl_item_method(&mut self, item: &'ast syn::ImplItemMethod) {
        let start = item.defaultness.as_ref().map_or(first_of_signature(&item.sig), |x| x.span());
        self.emit(&item.sig.ident.to_string(), "method", first(&item.vis, start), item.span());
        self.within(false, |this| visit::visit_impl_item_method(this, item));
    }
    fn visit_trait_item_method(&mut self, item: &'ast syn::TraitItemMethod) {
        self.emit(&item.sig.ident.to_string(), "method", first_of_signature(&item.sig), item.span());
        self.within(false, |this| visit::visit_trait_item_method(this, item));
    }
    fn visit_foreign_item_fn(&mut self, item: &'ast syn::ForeignItemFn) {
        self.emit(&item.sig.ident.to_string(), "function", first(&item.vis, first_of_signature(&item.sig)), item.span());
    }
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.emit(&item.ident.to_string(), "struct", first(&item.vis, item.struct_token.span()), item.span());
        visit::visit_item_struct(self, item);
    }
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.emit(&item.ident.to_string(), "enum", first(&item.vis, item.enum_token.span()), item.span());
        visit::visit_item_enum(self, item);
    }
    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.emit(&item.ident.to_string(), "union", first(&item.vis, item.union_token.span()), item.span());
        visit::visit_item_union(self, item);
    }
    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let start = item.unsafety.as_ref().map(|x| x.span()).unwrap_or(item.trait_token.span());
        self.emit(&item.ident.to_string(), "trait", first(&item.vis, start), item.span());
        visit::visit_item_trait(self, item);
    }
    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.emit(&item.ident.to_string(), "type", first(&item.vis, item.type_token.span()), item.span());
        visit::visit_item_type(self, item);
    }
    fn visit_trait_item_type(&mut self, item: &'ast syn::TraitItemType) {
        self.emit(&item.ident.to_string(), "type", item.type_token.span(), item.span());
        visit::visit_trait_item_type(self, item);
    }
    fn visit_impl_item_type(&mut self, item: &'ast syn::ImplItemType) {
        self.emit(&item.ident.to_string(), "type", first(&item.vis, item.type_token.span()), item.span());
        visit::visit_impl_item_type(self, item);
    }
    fn visit_impl_item_macro(&mut self, item: &'ast syn::ImplItemMacro) {
        self.within(true, |this| visit::visit_impl_item_macro(this, item));
    }
    fn visit_trait_item_macro(&mut self, item: &'ast syn::TraitItemMacro) {
        self.within(true, |this| visit::visit_trait_item_macro(this, item));
    }
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let before = std::mem::replace(&mut self.optional, true);
        if let Ok(items) =
            plain(call.parse_body_with(all::<syn::Item>), |item| matches!(item, syn::Item::Verbatim(_)))
        {
            items.iter().for_each(|item| self.visit_item(item));
        } else if let Ok(items) =
            plain(call.parse_body_with(all::<syn::ImplItem>), |item| matches!(item, syn::ImplItem::Verbatim(_)))
        {
            items.iter().for_each(|item| self.visit_impl_item(item));
        } else if let Ok(items) = call.parse_body_with(all::<syn::TraitItem>) {
            items.iter().for_each(|item| self.visit_trait_item(item));
        } else {
            self.emit("macro call", "blind", call.path.span(), call.tokens.span());
        }
        self.optional = before;
    }
}

/// The tokens of a macro call as items of one sort, behind attributes of the whole.
fn all<T: syn::parse::Parse>(input: syn::parse::ParseStream) -> syn::Result<Vec<T>> {
    input.call(syn::Attribute::parse_inner)?;
    let mut items = Vec::new();
    while !input.is_empty() {
        items.push(input.parse::<T>()?);
    }
    Ok(items)
}

/// The items, unless syn left one of them as bare tokens: `fn f();` is none here, but may be one of a trait.
fn plain<T>(items: syn::Result<Vec<T>>, is_tokens: impl Fn(&T) -> bool) -> Result<Vec<T>, ()> {
    items.ok().filter(|items| !items.iter().any(is_tokens)).ok_or(())
}

fn main() {
    for path in io::stdin().lock().lines().map_while(Result::ok) {
        let text = match std::fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => continue,
        };
        match syn::parse_file(text.strip_prefix('\u{feff}').unwrap_or(&text)) {
            Ok(file) => Finder { path, methods: false, optional: false }.visit_file(&file),
            Err(error) => println!("{{\"path\": {}, \"error\": {}}}", quoted(&path), quoted(&error.to_string())),
        }
    }
}
